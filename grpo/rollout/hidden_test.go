package rollout_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo/parse"
	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// dependencies.md of the project lists what the client's type loses: bounds,
// const, default, additionalProperties.
func TestHidden(t *testing.T) {
	tool, err := tools.Declare("f", "F.", json.RawMessage(`{"type":"object","properties":{"a":{"type":"integer","description":"A.","minimum":1,"enum":[1,2]},"b/c":{"type":"string","default":"x"}},"required":["a"],"additionalProperties":false}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := rollout.Hidden(tools.Set{tool})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/0/function/parameters/additionalProperties",
		"/0/function/parameters/properties/a/minimum",
		"/0/function/parameters/properties/b~1c/default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFamilyHint(t *testing.T) {
	for text, want := range map[string]parse.Family{
		`{{ range .ToolCalls }}<tool_call>`: parse.Hermes,
		`[TOOL_CALLS]`:                      parse.Mistral,
		`plain`:                             parse.Auto,
	} {
		if got := rollout.FamilyHint(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
