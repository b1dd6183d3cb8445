package grpo_test

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/tools/arithmetic"
)

// typical is a completion as models write them: 200 bytes of reasoning and one
// call of two arguments.
func typical(i int) string {
	reasoning := "The task asks for a product first and then a sum. I have the operands in the message above, so the next step is to multiply the first two of them with the tool and to wait for what it answers, nothing more."
	return fmt.Sprintf("<think>\n%s\n</think>\n\n<tool_call>\n{\"name\": \"multiply\", \"arguments\": {\"a\": 4, \"b\": %d}}\n</tool_call>", reasoning[:200], 1+i%2)
}

func typicalGroup(n int) grpo.Group {
	g := grpo.Group{
		ID: "g", Tools: arithmetic.Spec().Tools("", ""),
		Expected: &match.Expected{Calls: []match.Call{{Name: "multiply", Arguments: json.RawMessage(`{"a":4,"b":2}`)}}},
	}
	for i := range n {
		text := typical(i)
		g.Completions = append(g.Completions, grpo.Completion{Text: &text, Family: "hermes", FinishReason: "stop"})
	}
	return g
}

// BenchmarkScore scores groups of 64 in memory; an operation is one completion.
func BenchmarkScore(b *testing.B) {
	const size = 64
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		b.Fatal(err)
	}
	request := grpo.Request{Groups: []grpo.Group{typicalGroup(size)}}
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += size {
		if _, err := s.Score(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStream scores lines that carry their tools, by one worker; an
// operation is one line.
func BenchmarkStream(b *testing.B) {
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		b.Fatal(err)
	}
	set, err := json.Marshal(arithmetic.Spec().Tools("", "")[:3])
	if err != nil {
		b.Fatal(err)
	}
	var lines strings.Builder
	for i := range b.N {
		text, _ := json.Marshal(typical(i))
		fmt.Fprintf(&lines, `{"group":"g%d","tools":%s,"expected":{"calls":[{"name":"multiply","arguments":{"a":4,"b":2}}]},"text":%s,"family":"hermes"}`+"\n", i/8, set, text)
	}
	b.SetBytes(int64(lines.Len() / b.N))
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := s.Stream(b.Context(), strings.NewReader(lines.String()), io.Discard, grpo.StreamOptions{Grouped: true, Workers: 1}); err != nil {
		b.Fatal(err)
	}
}
