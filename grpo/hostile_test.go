package grpo_test

import (
	"fmt"
	"strings"
	"testing"
)

// hostileTexts are completions that try to cost more than they should, scaled
// by n bytes or so.
func hostileTexts(n int) map[string]string {
	one := call(`{"a":1,"b":2}`)
	return map[string]string{
		"many right calls":      strings.Repeat(one, n/len(one)),
		"many different calls":  differentCalls(n),
		"many broken calls":     strings.Repeat("<tool_call>{", n/12),
		"many openers":          strings.Repeat("<tool_call>", n/11),
		"many answers":          strings.Repeat("<answer></answer>", n/17),
		"many thoughts":         strings.Repeat("<think>", n/7),
		"deep arguments":        call(`{"a":` + strings.Repeat("[", n/2) + strings.Repeat("]", n/2) + `}`),
		"one long string":       call(`{"a":"` + strings.Repeat("x", n) + `"}`),
		"one long number":       call(`{"a":` + strings.Repeat("9", n) + `,"b":2}`),
		"many keys":             call("{" + manyKeys(n) + `"a":1}`),
		"one word for ever":     strings.Repeat("ha ", n/3),
		"angle brackets":        strings.Repeat("<", n),
		"backslashes":           `<tool_call>{"name":"` + strings.Repeat(`\`, n),
		"a schema said often":   strings.Repeat(`"properties"`, n/12),
		"invalid UTF-8":         strings.Repeat("\xff", n),
		"digits without an end": strings.Repeat("1,000,", n/6),
	}
}

func differentCalls(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		b.WriteString(call(fmt.Sprintf(`{"a":%d,"b":2}`, i)))
	}
	return b.String()
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `"k%d":1,`, i)
	}
	return b.String()
}

// Whatever a model writes gets a verdict, and a group of hostile completions
// leaves its honest member as it is.
func TestHostileTextsGetAVerdict(t *testing.T) {
	for name, hostile := range hostileTexts(200_000) {
		t.Run(name, func(t *testing.T) {
			for _, expected := range []string{oneCall, `{"answer":3}`} {
				got := score(t, request(t, expected, text(hostile), text(call(`{"a":1,"b":2}`)))).Groups[0]
				for i, c := range got.Completions {
					if c.Reward == nil && c.Failure.Kind == "" {
						t.Errorf("completion %d has neither reward nor failure", i)
					}
				}
				if c := got.Completions[0]; c.Success {
					t.Errorf("success, reward %v, tier %s", show(c.Reward), c.Tier)
				}
			}
		})
	}
}
