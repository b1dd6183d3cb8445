package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// Query is a [RewardQuery] as a request of package grpo, with the position of
// each completion in its groups.
type Query struct {
	Request grpo.Request
	places  []place // per completion, in the order of the query
}

// ToolCompiler compiles a JSON list of tools. The set may be shared and must not
// be changed. The place of an error is relative to the list.
type ToolCompiler interface {
	Tools(list []byte) (tools.Set, error)
}

type place struct{ group, member int }

// groupKey is equal for the completions of one group.
type groupKey struct{ prompt, label string }

// OpenRLHF converts a query; the compiler compiles the tools of its labels. An
// invalid query is a [*tools.Error] with a JSON pointer.
func OpenRLHF(q RewardQuery, compiler ToolCompiler) (Query, error) {
	n := len(q.Query)
	if len(q.Prompts) != n || len(q.Labels) != n {
		return Query{}, refusal.New("", "lists of equal length", "got %d queries, %d prompts and %d labels", n, len(q.Prompts), len(q.Labels))
	}
	var query Query
	labels := map[groupKey]label{}
	for i := range n {
		response, ok := strings.CutPrefix(q.Query[i], q.Prompts[i])
		if !ok {
			return Query{}, refusal.New(fmt.Sprintf("/query/%d", i), fmt.Sprintf("prompts[%d] followed by the response", i), "does not begin with its prompt")
		}
		key := groupKey{q.Prompts[i], q.Labels[i]}
		l, ok := labels[key]
		if !ok {
			var err error
			if l, err = readLabel(key.label, compiler); err != nil {
				return Query{}, refusal.Below(fmt.Sprintf("/labels/%d", i), err)
			}
			l.place = len(labels)
			labels[key] = l
			query.Request.Groups = append(query.Request.Groups, l.group)
		}
		query.add(l, response)
	}
	return query, nil
}

// add adds a response to the group of its label.
func (q *Query) add(l label, response string) {
	group := &q.Request.Groups[l.place]
	group.ID = strconv.Itoa(l.place)
	q.places = append(q.places, place{l.place, len(group.Completions)})
	group.Completions = append(group.Completions, grpo.Completion{Text: &response, Family: l.family})
}

// Place converts the place of an error from the request to the query: a group is
// a label, a completion an element of query.
func (q Query) Place(err error) error {
	return refusal.Relocate(err, func(where string) string {
		parts := strings.SplitN(where, "/", 6)
		if len(parts) < 3 || parts[1] != "groups" {
			return where
		}
		for i, p := range q.places {
			switch {
			case strconv.Itoa(p.group) != parts[2]:
				continue
			case len(parts) < 5 || parts[3] != "completions":
				return fmt.Sprintf("/labels/%d", i)
			case strconv.Itoa(p.member) == parts[4]:
				return fmt.Sprintf("/query/%d", i)
			}
		}
		return where
	})
}

// Rewards puts the answer together. A null reward is an [*tools.Error] with
// code unavailable. A criterion that could not be worked out for one of the
// completions, and is not paid for, is left out of the logs.
func (q Query) Rewards(response grpo.Response) (Rewards, error) {
	n := len(q.places)
	out := Rewards{Rewards: make([]float64, n), Scores: make([]float64, n), ExtraLogs: map[string][]float64{}}
	unknown := map[string]bool{}
	for i, p := range q.places {
		score := &response.Groups[p.group].Completions[p.member]
		if score.Reward == nil {
			return Rewards{}, &tools.Error{Code: tools.Unavailable, Where: fmt.Sprintf("/query/%d", i),
				Message: fmt.Sprintf("there is no reward: %s failure: %s", score.Failure.Kind, score.Failure.Reason)}
		}
		out.Rewards[i] = *score.Reward
		for criterion := range score.Criteria.All() {
			if criterion.Name == grpo.CriterionCompletion {
				out.Scores[i] = criterion.Value
			}
			unknown[criterion.Name] = unknown[criterion.Name] || criterion.Error != ""
			out.ExtraLogs[criterion.Name] = append(out.ExtraLogs[criterion.Name], criterion.Value)
		}
	}
	for name, is := range unknown {
		if is {
			delete(out.ExtraLogs, name)
		}
	}
	return out, nil
}

// A label is the task of a prompt.
type label struct {
	group  grpo.Group // without completions
	family parse.Family
	place  int // index of the group
}

// readLabel decodes a task id, or a task as a JSON object.
func readLabel(text string, compiler ToolCompiler) (label, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") {
		return label{group: grpo.Group{TaskID: text}}, nil
	}
	if _, err := strictjson.Decode([]byte(text)); err != nil {
		return label{}, refusal.New("", "one JSON object", "%v", err)
	}
	var sent struct {
		TaskID   string          `json:"task_id"`
		Tools    json.RawMessage `json:"tools"`
		Expected *match.Expected `json:"expected"`
		Family   parse.Family    `json:"family"`
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&sent); err != nil {
		return label{}, refusal.Of(err, "task_id, or tools and expected; and family")
	}
	set, err := compiler.Tools(sent.Tools)
	if err != nil {
		return label{}, refusal.Below("/tools", err)
	}
	if err := sent.Family.Validate(); err != nil {
		return label{}, err
	}
	return label{group: grpo.Group{TaskID: sent.TaskID, Tools: set, Expected: sent.Expected}, family: sent.Family}, nil
}

// A RewardQuery is the body of POST /get_reward, the remote reward function of
// OpenRLHF. The lists are parallel.
type RewardQuery struct {
	Query   []string `json:"query" doc:"Each prompt, followed by the response."`
	Prompts []string `json:"prompts" doc:"The prompts; completions of equal prompts are a group."`
	Labels  []string `json:"labels" doc:"A task id, or a task as JSON text, per completion: task_id, or tools and expected; optionally family."`
}

// Rewards is the answer of POST /get_reward; every number is finite.
type Rewards struct {
	Rewards   []float64            `json:"rewards"`
	Scores    []float64            `json:"scores" doc:"The criterion completion, between 0 and 1."`
	ExtraLogs map[string][]float64 `json:"extra_logs" doc:"The values of the criteria by name."`
}
