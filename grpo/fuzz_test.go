package grpo_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"toolgym/grpo"
)

// pastCrashers are inputs that once went wrong, by what went wrong.
func pastCrashers() map[string]string {
	return map[string]string{
		"an object that is one brace":         "{",
		"a key that never ends":               `{"group`,
		"a quote escaped by many backslashes": `{"group":"\\\\\\"}`,
		"a value that closes more than opens": `{"text":]]]}`,
	}
}

// FuzzStream sends lines through: each gives one line of valid JSON, with a
// finite reward or a failure.
func FuzzStream(f *testing.F) {
	f.Add(scoreLine("g", call(`{"a":1,"b":2}`)))
	f.Add(`{"group":"g","task_id":"x/0/1","messages":[{"role":"assistant"}]}` + "\n{}\n\n")
	for _, text := range pastCrashers() {
		f.Add(text)
	}
	s, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, input string) {
		var out bytes.Buffer
		if _, err := s.Stream(t.Context(), strings.NewReader(input), &out, grpo.StreamOptions{Workers: 1, TempDir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		want := strings.Count(input, "\n")
		if input != "" && !strings.HasSuffix(input, "\n") {
			want++
		}
		if got := strings.Count(out.String(), "\n"); got != want {
			t.Fatalf("%d lines in, %d out", want, got)
		}
		for line := range strings.Lines(out.String()) {
			var l outLine
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			if l.Valid != (l.Reward != nil) || l.Valid == (l.Failure != nil) || l.Valid && math.IsInf(*l.Reward, 0) {
				t.Fatalf("valid %v, reward %v, failure %v", l.Valid, l.Reward, l.Failure)
			}
		}
	})
}

// FuzzRubric reads rubrics: what is accepted scores, and writing and reading
// again changes nothing.
func FuzzRubric(f *testing.F) {
	f.Add("criteria: {format: {weight: 1}}")
	f.Add(`{"criteria":{"own":{"weight":-1e3,"formula":"1/turns"},"length":{"weight":1,"unit":"token","soft":1,"max":2}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		rubric, err := grpo.ParseRubric([]byte(text))
		if err != nil {
			return
		}
		encoded, err := json.Marshal(rubric)
		if err != nil {
			t.Fatal(err)
		}
		again, err := grpo.ParseRubric(encoded)
		if err != nil {
			t.Fatalf("%v in %s", err, encoded)
		}
		if len(again.Criteria) != len(rubric.Criteria) {
			t.Fatalf("%s came back as %v", encoded, again)
		}
		if _, err := grpo.NewScorer(nil, again); err != nil {
			t.Fatal(err)
		}
	})
}
