package grpo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo"
	"toolgym/grpo/objective"
	"toolgym/tools"
)

// outLine is one line of a stream's output.
type outLine struct {
	Group     string
	Index     int
	Reward    *float64
	Valid     bool
	Failure   *grpo.Failure
	Advantage float64
	Success   bool
	Criteria  grpo.Criteria
	Defects   []string
	Tier      string
}

func stream(t testing.TB, input string, o grpo.StreamOptions) (string, grpo.Metrics) {
	t.Helper()
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	o.TempDir = t.TempDir()
	metrics, err := s.Stream(t.Context(), strings.NewReader(input), &out, o)
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), metrics
}

func readLines(t testing.TB, output string) []outLine {
	t.Helper()
	var lines []outLine
	for text := range strings.Lines(output) {
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		var l outLine
		if err := d.Decode(&l); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		lines = append(lines, l)
	}
	return lines
}

// scoreLine writes an input line.
func scoreLine(group, completion string) string {
	quoted, _ := json.Marshal(completion)
	return fmt.Sprintf(`{"group":%q,"tools":%s,"expected":%s,"text":%s}`, group, declared, oneCall, quoted) + "\n"
}

// many are groups of four, neighbours; their completions are right in turn.
func many(groups int) string {
	var b strings.Builder
	for g := range groups {
		for i := range 4 {
			b.WriteString(scoreLine(fmt.Sprintf("g%d", g), call(fmt.Sprintf(`{"a":1,"b":%d}`, 2+(g+i)%4))))
		}
	}
	return b.String()
}

func TestStreamWritesTheDocumentedLine(t *testing.T) {
	got, _ := stream(t, scoreLine("g", call(`{"a":1,"b":2}`)), grpo.StreamOptions{Workers: 1})
	want := `{"group":"g","index":0,"reward":5.45,"valid":true,"failure":null,"advantage":0,"success":true,"criteria":{"format":{"value":1,"weight":1,"reward":1},`
	if !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `},"defects":[],"tier":"strict"}`+"\n") {
		t.Errorf("got %s", got)
	}
}

// The stream gives the same rewards, advantages and metrics as one request, by
// any number of workers, with neighbours or without.
func TestStreamAgreesWithScore(t *testing.T) {
	const groups = 100
	input := many(groups)
	body := `{"groups":[`
	for g := range groups {
		var completions []string
		for i := range 4 {
			completions = append(completions, text(call(fmt.Sprintf(`{"a":1,"b":%d}`, 2+(g+i)%4))))
		}
		body += fmt.Sprintf(`{"id":"g%d","tools":%s,"expected":%s,"completions":[%s]},`, g, declared, oneCall, strings.Join(completions, ","))
	}
	want := score(t, decode(t, strings.TrimSuffix(body, ",")+"]}"))
	first, _ := stream(t, input, grpo.StreamOptions{Workers: 1})
	for _, o := range []grpo.StreamOptions{{Workers: 1}, {Workers: 4}, {Grouped: true, Workers: 1}, {Grouped: true, Workers: 3}, {}} {
		t.Run(fmt.Sprintf("grouped %v by %d", o.Grouped, o.Workers), func(t *testing.T) {
			output, metrics := stream(t, input, o)
			if output != first {
				t.Error("the output depends on how it was worked out")
			}
			if diff := cmp.Diff(want.Metrics, metrics, tolerance()); diff != "" {
				t.Error(diff)
			}
		})
	}
	for i, l := range readLines(t, first) {
		c := want.Groups[i/4].Completions[i%4]
		if l.Group != want.Groups[i/4].ID || l.Index != i%4 || *l.Reward != *c.Reward || l.Advantage != c.Advantage || cmp.Diff(c.Criteria, l.Criteria) != "" {
			t.Errorf("line %d: %+v, want %+v", i, l, c)
		}
	}
}

// Whatever advantages are made of, a file gets those of a request.
func TestStreamNormalizesAsScore(t *testing.T) {
	const groups = 9
	var body []string
	for g := range groups {
		var completions []string
		for i := range 4 {
			completions = append(completions, text(call(fmt.Sprintf(`{"a":1,"b":%d}`, 2+(g+i)%4))))
		}
		body = append(body, fmt.Sprintf(`{"id":"g%d","tools":%s,"expected":%s,"completions":[%s]}`, g, declared, oneCall, strings.Join(append(completions, `{"text":"no call"}`), ",")))
	}
	lines := strings.SplitAfter(many(groups), "\n")
	var input strings.Builder
	for g := range groups {
		input.WriteString(strings.Join(lines[4*g:4*g+4], "") + scoreLine(fmt.Sprintf("g%d", g), "no call"))
	}
	for _, normalization := range []objective.Normalization{objective.NormalizeGroup, objective.NormalizeBatch, objective.NormalizeNone} {
		for _, aggregation := range []objective.Aggregation{objective.SumThenNormalize, objective.NormalizeThenSum} {
			t.Run(fmt.Sprintf("%s, %s", normalization, aggregation), func(t *testing.T) {
				want := score(t, decode(t, fmt.Sprintf(`{"normalization":%q,"aggregation":%q,"groups":[%s]}`, normalization, aggregation, strings.Join(body, ","))))
				for _, grouped := range []bool{true, false} {
					output, _ := stream(t, input.String(), grpo.StreamOptions{Grouped: grouped, Normalization: normalization, Aggregation: aggregation})
					for i, l := range readLines(t, output) {
						if c := want.Groups[i/5].Completions[i%5]; l.Advantage != c.Advantage {
							t.Fatalf("line %d of a file, grouped %v, has advantage %v, in a request %v", i, grouped, l.Advantage, c.Advantage)
						}
					}
				}
			})
		}
	}
}

func TestStreamRefuses(t *testing.T) {
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		options grpo.StreamOptions
		where   string
	}{
		"an unknown normalization": {grpo.StreamOptions{Normalization: "mean"}, "/normalization"},
		"an unknown aggregation":   {grpo.StreamOptions{Aggregation: "sum"}, "/aggregation"},
		"an unknown loss":          {grpo.StreamOptions{Loss: &objective.Config{Type: "ppo"}}, "/loss/type"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := s.Stream(t.Context(), strings.NewReader(many(1)), io.Discard, test.options)
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Where != test.where {
				t.Errorf("%v, want one about %s", err, test.where)
			}
		})
	}
}

func TestGroupsSpreadOverTheFile(t *testing.T) {
	right, wrong := call(`{"a":1,"b":2}`), call(`{"a":1,"b":3}`)
	input := scoreLine("x", right) + scoreLine("y", wrong) + scoreLine("x", wrong) + scoreLine("y", right)
	spread, _ := stream(t, input, grpo.StreamOptions{})
	apart, _ := stream(t, input, grpo.StreamOptions{Grouped: true})
	std := 3 / math.Sqrt2
	for i, l := range readLines(t, spread) {
		want := []float64{1.5, -1.5, -1.5, 1.5}[i] / (std + 1e-4)
		if l.Index != i/2 || !cmp.Equal(l.Advantage, want, tolerance()) {
			t.Errorf("line %d: index %d, advantage %v; want %d, %v", i, l.Index, l.Advantage, i/2, want)
		}
	}
	for i, l := range readLines(t, apart) {
		if l.Advantage != 0 || l.Index != 0 {
			t.Errorf("neighbours only: line %d has index %d, advantage %v", i, l.Index, l.Advantage)
		}
	}
}

func TestBatchNormalizationWaitsForTheEnd(t *testing.T) {
	input := many(3)
	plain, _ := stream(t, input, grpo.StreamOptions{Normalization: objective.NormalizeBatch})
	grouped, _ := stream(t, input, grpo.StreamOptions{Normalization: objective.NormalizeBatch, Grouped: true})
	if plain != grouped {
		t.Error("the batch is the whole file, however its groups lie")
	}
}

func TestUnreadableLines(t *testing.T) {
	good := scoreLine("g", call(`{"a":1,"b":2}`))
	task := `"tools":` + declared + `,"expected":` + oneCall
	tests := []struct{ name, line, group, reason string }{
		{"no JSON", `{"group":`, "", `line 2: "{\"group\":" is no object; expected a JSON object`},
		{"blank", ``, "", "line 2: the line is empty; expected a JSON object"},
		{"a list", `[1]`, "", "JSON object"},
		{"cut off", `{"group":"g",` + task + `,"text":"x`, "", "line 2:"},
		{"an unknown field", `{"group":"g","wat":1}`, "g", "/wat"},
		{"a field twice", `{"group":"g","group":"h"}`, "g", "twice"},
		{"a comma at the end", `{"group":"g",}`, "g", "comma"},
		{"no task", `{"group":"g","text":"x"}`, "g", "task_id, or tools"},
		{"an unknown task", `{"group":"g","task_id":"x/y/1","text":"x"}`, "g", "/task_id"},
		{"tools that are none", `{"group":"g","tools":[{"type":"function"}],"expected":` + oneCall + `,"text":"x"}`, "g", "/tools"},
		{"a tool twice", `{"group":"g","tools":[{"name":"f"},{"name":"f"}],"expected":{"calls":[]},"text":"x"}`, "g", "line 2: /tools/1: tool"},
		{"a schema that reads a file", `{"group":"g","tools":[{"name":"f","parameters":{"$ref":"file:///etc/passwd"}}],"expected":{"calls":[]},"text":"x"}`, "g", "leaves the schema"},
		{"expected that is none", `{"group":"g","tools":` + declared + `,"expected":{"call":[]},"text":"x"}`, "g", "/expected"},
		{"neither text nor messages", `{"group":"g",` + task + `}`, "g", "text or messages"},
		{"text that is a number", `{"group":"g",` + task + `,"text":5}`, "g", "/text"},
		{"a family that does not exist", `{"group":"g",` + task + `,"text":"x","family":"latin"}`, "g", "/family"},
		{"a mask of another length", `{"group":"g",` + task + `,"text":"x","logprobs":[-1],"mask":[1,1]}`, "g", "/mask"},
		{"invalid UTF-8", "{\"group\":\"g\"," + task + ",\"text\":\"\xff\"}", "g", "/text"},
		{"deep", strings.Repeat("[", 100000), "", "JSON object"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			output, metrics := stream(t, good+test.line+"\n"+good, grpo.StreamOptions{Grouped: true})
			lines := readLines(t, output)
			if len(lines) != 3 || !lines[0].Valid || !lines[2].Valid {
				t.Fatalf("%d lines: %s", len(lines), output)
			}
			l := lines[1]
			if l.Valid || l.Reward != nil || l.Failure == nil || l.Failure.Kind != grpo.FailureHarness || l.Group != test.group || !strings.Contains(l.Failure.Reason, test.reason) {
				t.Errorf("group %q, reward %v, failure %+v; want group %q and %q", l.Group, show(l.Reward), l.Failure, test.group, test.reason)
			}
			if n := metrics["failures/harness"]; n == nil || *n != 1 {
				t.Errorf("failures/harness is %v", show(n))
			}
		})
	}
}

// Some editors begin a file with a byte order mark, which is no part of its first
// line.
func TestStreamBeginsWithAByteOrderMark(t *testing.T) {
	output, _ := stream(t, "\ufeff"+many(1), grpo.StreamOptions{})
	if plain, _ := stream(t, many(1), grpo.StreamOptions{}); output != plain {
		t.Errorf("got %s, want %s", output, plain)
	}
}

func TestStreamEndsWithoutNewline(t *testing.T) {
	output, _ := stream(t, strings.TrimSuffix(many(1), "\n"), grpo.StreamOptions{})
	if n := len(readLines(t, output)); n != 4 {
		t.Errorf("%d lines, want 4", n)
	}
	if output, _ := stream(t, "", grpo.StreamOptions{}); output != "" {
		t.Errorf("nothing in, %q out", output)
	}
}

// closedPipe takes some bytes and then breaks, as a pager that was quit.
type closedPipe struct{ left int }

func (p *closedPipe) Write(b []byte) (int, error) {
	if p.left -= len(b); p.left < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

func TestStreamStopsWhenThePipeCloses(t *testing.T) {
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Stream(t.Context(), strings.NewReader(many(200)), &closedPipe{100000}, grpo.StreamOptions{Grouped: true})
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v, want the pipe's", err)
	}
}

func TestStreamStopsWithItsContext(t *testing.T) {
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Stream(ctx, strings.NewReader(many(200)), io.Discard, grpo.StreamOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// A client that sends group by group gets each group's lines before it sends
// the one after the next.
func TestStreamAnswersGroupByGroup(t *testing.T) {
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	toServer, send := io.Pipe()
	receive, fromServer := io.Pipe()
	ended := make(chan error)
	go func() {
		_, err := s.Stream(t.Context(), toServer, fromServer, grpo.StreamOptions{Grouped: true, Workers: 2})
		ended <- errors.Join(err, fromServer.Close())
	}()
	answers := json.NewDecoder(receive)
	write := func(group string) {
		if _, err := io.WriteString(send, scoreLine(group, "x")); err != nil {
			t.Error(err)
		}
	}
	write("a")
	for _, next := range []string{"b", "c", "d"} {
		write(next)
		var l outLine
		if err := answers.Decode(&l); err != nil || l.Group != string(next[0]-1) {
			t.Fatalf("answer %+v, %v", l, err)
		}
	}
	_ = send.Close() // a pipe's writer closes without an error
	var last outLine
	if err := answers.Decode(&last); err != nil || last.Group != "d" {
		t.Errorf("answer %+v, %v", last, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestStreamKnowsTheLoss(t *testing.T) {
	tokens := func(group, b string) string {
		l := strings.TrimSuffix(scoreLine(group, call(`{"a":1,"b":`+b+`}`)), "}\n")
		return l + `,"logprobs":[-1,-2],"old_logprobs":[-1.5,-2],"ref_logprobs":[-1,-1],"mask":[1,1]}` + "\n"
	}
	input := tokens("x", "2") + tokens("y", "2") + tokens("x", "3") + tokens("y", "3")
	_, metrics := stream(t, input, grpo.StreamOptions{})
	for _, name := range []string{grpo.MetricLoss, grpo.MetricKL, grpo.MetricClipHigh} {
		if metrics[name] == nil {
			t.Errorf("%s is null", name)
		}
	}
	if kl := metrics[grpo.MetricKL]; !cmp.Equal(*kl, (math.E-2)/2, tolerance()) {
		t.Errorf("kl %v, want %v", *kl, (math.E-2)/2) // k3 of d = 0 and d = −1
	}
	own := objective.Default()
	own.KL, own.Beta = objective.KL1, 1
	_, metrics = stream(t, input, grpo.StreamOptions{Loss: &own})
	if kl := metrics[grpo.MetricKL]; kl == nil || !cmp.Equal(*kl, -0.5, tolerance()) {
		t.Errorf("kl %v by k1 of 0 and −1", kl)
	}
	_, metrics = stream(t, input+scoreLine("z", "x"), grpo.StreamOptions{})
	if metrics[grpo.MetricLoss] != nil {
		t.Error("a loss of a batch of which not all is known")
	}
}
