package api

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/api/client"
	"toolgym/api/dialect"
	"toolgym/grpo"
	"toolgym/grpo/audit"
	"toolgym/grpo/match"
	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// maxScoreBody is what the body of a score route may have, in bytes.
const maxScoreBody = 64 << 20

func (s *Server) scoreRoutes() {
	request, answer := exampleScores()
	handle(s, route{id: "score", work: heavy, method: http.MethodPost, path: "/v1/score", tag: "scores", role: Score, limit: maxScoreBody,
		refusals: []int{http.StatusNotFound},
		summary:  "Score groups of completions",
		text: "The completions of a group are graded against a task of an environment, in a fresh copy of which their calls are made, or against tools and what " +
			"is expected of them. A completion that cannot be held against the model has a null reward, with the reason in failure, and leaves mean and standard " +
			"deviation. With log-probabilities for all completions the metrics have loss, kl and clip_ratio. " +
			"A request has at most 65,536 completions and groups, unless the server is configured otherwise, and its scores a bounded size (413); so have the schemas of tools " +
			"(422), and the steps that it takes to check arguments against them: over 1,000,000 a completion has a failure of kind harness.",
		request: request, answer: answer, number: numberOfCompletions}, s.score)
	s.streamRoute()
	s.rewardRoute()
}

type scoreInput struct{ Sent checked[grpo.Request] }

func (s *Server) score(ctx context.Context, in *scoreInput) (*reply[grpo.Response], error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	request, err := s.scoreRequest(ctx, in.Sent.text)
	if err != nil {
		return nil, err
	}
	response, err := s.scorer.ScoreWithin(ctx, request, func(bytes int64) error { return s.charge(ctx, bytes) })
	if err != nil {
		return nil, err
	}
	s.metrics.scoring(response)
	s.logScores(ctx, response)
	return answered(response), nil
}

// sentRequest is a request whose parts are decoded one by one, so that what is
// wrong with one is said by its place.
type sentRequest struct {
	grpo.Request
	Rubric json.RawMessage `json:"rubric"`
	Loss   json.RawMessage `json:"loss"`
	Groups []sentGroup     `json:"groups"`
}

type sentGroup struct {
	grpo.Group
	Tools    json.RawMessage `json:"tools"`
	Expected json.RawMessage `json:"expected"`
}

// numberOfCompletions counts the groups and the completions of a request.
func numberOfCompletions(value any) (n int, pointer string) {
	request, _ := value.(map[string]any)
	groups, _ := request["groups"].([]any)
	for _, g := range groups {
		group, _ := g.(map[string]any)
		completions, _ := group["completions"].([]any)
		n += 1 + len(completions)
	}
	return n, "#/groups"
}

func (s *Server) scoreRequest(ctx context.Context, text []byte) (grpo.Request, error) {
	var sent sentRequest
	if err := json.Unmarshal(text, &sent); err != nil {
		return grpo.Request{}, misfit(err)
	}
	request := sent.Request
	if sent.Rubric != nil {
		request.Rubric = new(grpo.Rubric)
		if err := request.Rubric.UnmarshalJSON(sent.Rubric); err != nil {
			return request, refusal.Below("/rubric", err)
		}
	}
	if sent.Loss != nil {
		request.Loss = new(objective.Config)
		if err := request.Loss.UnmarshalJSON(sent.Loss); err != nil {
			return request, refusal.Below("/loss", err)
		}
	}
	request.Groups = make([]grpo.Group, len(sent.Groups))
	charged := map[*tools.Tool]bool{} // equal lists are one
	for i := range sent.Groups {
		if err := ctx.Err(); err != nil { // schemas may take long to compile
			return request, fmt.Errorf("reading groups: %w", err)
		}
		if err := s.charge(ctx, completionWeight*int64(1+len(sent.Groups[i].Completions))); err != nil {
			return request, err
		}
		group, err := s.group(&sent.Groups[i])
		if err != nil {
			return request, refusal.Below(fmt.Sprintf("/groups/%d", i), err)
		}
		if len(group.Tools) > 0 && !charged[&group.Tools[0]] {
			charged[&group.Tools[0]] = true
			if err := s.charge(ctx, int64(group.Tools.Memory())); err != nil {
				return request, err
			}
		}
		request.Groups[i] = group
	}
	return request, nil
}

func (s *Server) group(sent *sentGroup) (grpo.Group, error) {
	group := sent.Group
	var err error
	if group.Tools, err = s.desk.Tools(sent.Tools); err != nil {
		return group, refusal.Below("/tools", err)
	}
	if sent.Expected != nil {
		group.Expected = new(match.Expected)
		if err := json.Unmarshal(sent.Expected, group.Expected); err != nil {
			return group, refusal.Below("/expected", misfit(err))
		}
	}
	return group, nil
}

// misfit is unfit as the error of a handler.
func misfit(err error) error {
	if _, ok := errors.AsType[*tools.Error](err); ok {
		return err
	}
	f := unfit(err)
	return refusal.New(strings.TrimPrefix(f.pointer, "#"), "", "%s", f.message)
}

// jsonFormat writes answers as huma does, but for scores: an answer of many is
// written score by score, so that it is never in memory as a whole.
func jsonFormat() huma.Format {
	format := huma.DefaultJSONFormat
	whole := format.Marshal
	format.Marshal = func(w io.Writer, v any) error {
		if response, ok := v.(grpo.Response); ok {
			return writeScores(w, response)
		}
		return whole(w, v)
	}
	return format
}

// writeScores writes what encoding/json makes of a response, and forgets each
// score when it is written.
func writeScores(to io.Writer, response grpo.Response) error {
	w := bufio.NewWriterSize(to, 1<<16)
	list := func(open string, n int, item func(i int) error) error {
		_, _ = w.WriteString(open) // errors of the buffer stay until it is flushed
		for i := range n {
			if i > 0 {
				_ = w.WriteByte(',')
			}
			if err := item(i); err != nil {
				return err
			}
		}
		return w.WriteByte(']')
	}
	err := list(`{"groups":[`, len(response.Groups), func(i int) error {
		g := response.Groups[i]
		completions := g.Completions
		g.Completions = []grpo.Score{}
		head, err := marshal(g)
		if err != nil {
			return fmt.Errorf("writing a group: %w", err)
		}
		open, ok := bytes.CutSuffix(head, []byte("]}"))
		if !ok {
			return fmt.Errorf("writing a group: its completions are not its last field: %.200s", head)
		}
		err = list(string(open), len(completions), func(j int) error {
			text, err := marshal(&completions[j])
			if err != nil {
				return fmt.Errorf("writing a score: %w", err)
			}
			completions[j] = grpo.Score{}
			_, err = w.Write(text)
			return err
		})
		if err != nil {
			return err
		}
		return w.WriteByte('}')
	})
	if err != nil {
		return err
	}
	metrics, err := marshal(response.Metrics)
	if err != nil {
		return fmt.Errorf("writing metrics: %w", err)
	}
	fmt.Fprintf(w, ",\"metrics\":%s}\n", metrics)
	return w.Flush()
}

// marshal is json.Marshal in huma's way, which leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func (s *Server) rewardRoute() {
	query, rewards := exampleRewards()
	handle(s, route{id: "get-reward", work: heavy, method: http.MethodPost, path: "/get_reward", tag: "trainers", role: Score, limit: maxScoreBody,
		refusals: []int{http.StatusNotFound},
		summary:  "Answer OpenRLHF's remote reward function",
		text: "For --remote_rm_url of OpenRLHF. Completions of equal prompts are a group. A reward that is null cannot be expressed: such a request is answered with 503 " +
			"and the reason, and the trainer tries again.",
		request: query, answer: rewards, number: numberOfQueries}, s.reward)
}

// numberOfQueries counts the completions of a question.
func numberOfQueries(value any) (n int, pointer string) {
	question, _ := value.(map[string]any)
	queries, _ := question["query"].([]any)
	return len(queries), "#/query"
}

type rewardInput struct{ Sent body[dialect.RewardQuery] }

func (s *Server) reward(ctx context.Context, in *rewardInput) (*reply[dialect.Rewards], error) {
	if err := s.charge(ctx, completionWeight*int64(len(in.Sent.value.Query))); err != nil {
		return nil, err
	}
	query, err := dialect.OpenRLHF(in.Sent.value, &s.desk)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	response, err := s.scorer.ScoreWithin(ctx, query.Request, func(bytes int64) error { return s.charge(ctx, bytes) })
	if err != nil {
		return nil, query.Place(err)
	}
	s.metrics.scoring(response)
	s.logScores(ctx, response)
	rewards, err := query.Rewards(response)
	if err != nil {
		return nil, err
	}
	return answered(rewards), nil
}

func (s *Server) parseRoutes() {
	text := "<think>Nine times three.</think>\n<tool_call>\n{\"name\": \"multiply\", \"arguments\": {\"a\": 9, \"b\": 3}}\n</tool_call>"
	request := parse.Request{Input: parse.Input{Text: &text, Family: parse.Hermes, FinishReason: "stop"}, Tools: tools.Set{exampleTool()}}
	answer, err := request.Read()
	if err != nil {
		panic("api: the example of reading cannot be read: " + err.Error())
	}
	handle(s, route{id: "parse", work: heavy, method: http.MethodPost, path: "/v1/parse", tag: "scores", role: Score,
		summary: "Read the calls that a model wrote",
		text: "Exactly one of text (what the model generated), message (a server's body: a chat message with any further fields, or an error) and " +
			"stream (a server's chunks). The calls of the answer are those that count; attempts has the tier and the defects of every attempt, and " +
			"defects sums that up. schema_valid is null without calls.",
		request: request, answer: answer}, s.parse)
}

type parseInput struct{ Sent checked[parse.Request] }

func (s *Server) parse(ctx context.Context, in *parseInput) (*reply[parse.Reading], error) {
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	reading, err := s.desk.Read(ctx, in.Sent.text)
	if err != nil {
		return nil, err
	}
	return answered(reading), nil
}

func (s *Server) auditRoutes() {
	rubric := grpo.DefaultRubric()
	reward := 0.95
	handle(s, route{id: "audit-rubric", work: heavy, method: http.MethodPost, path: "/v1/audit", tag: "scores", role: Score,
		summary: "Attack a rubric",
		text: "Tries to be paid by the rubric without doing the task: every attack of a suite, made against tasks of the environments. " +
			"Each reward stands beside that of an honest near miss, one valid call with one wrong value; a rubric that pays an attack more has not passed. " +
			"Without a rubric, the default one is attacked.",
		request: client.Audit{Rubric: &rubric},
		answer:  audit.Report{Passed: true, Findings: []audit.Finding{{Attack: "ten guesses", Task: "arithmetic/2/1", Reward: &reward, NearMiss: 2.45, Passed: true}}},
	}, s.audit)
}

type auditOrder struct{ Sent body[client.Audit] }

func (s *Server) audit(ctx context.Context, in *auditOrder) (*reply[audit.Report], error) {
	rubric := grpo.DefaultRubric()
	if in.Sent.value.Rubric != nil {
		rubric = *in.Sent.value.Rubric
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	report, err := audit.Run(ctx, s.config.Specs, rubric)
	if err != nil {
		return nil, refusal.Below("/rubric", err)
	}
	return answered(report), nil
}
