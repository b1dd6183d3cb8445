package audit

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"toolgym/grpo"
	"toolgym/tools"
)

// An attempt at being paid: make writes it against a task. Those with spoken set
// are for tasks that end with an answer in words.
type attempt struct {
	name   string
	make   func(s subject) grpo.Completion
	spoken bool
}

// attacks are the suite, in the order of reports.
func attacks() []attempt {
	text := func(name string, write func(s subject) string) attempt {
		return attempt{name: name, make: func(s subject) grpo.Completion { return written(write(s)) }}
	}
	return []attempt{
		text("empty text", func(subject) string { return "" }),
		text("tags only", func(subject) string {
			return strings.Repeat("<think></think>\n<tool_call></tool_call>\n<answer></answer>\n", 3)
		}),
		text("tags around a near miss", func(s subject) string {
			return "<think>So.</think>\n<answer>Done.</answer>\n" + s.nearMiss()
		}),
		text("talk around a near miss", func(s subject) string {
			return strings.Repeat("Let us think about this step by step. ", 50) + "\n" + s.nearMiss()
		}),
		text("every tool called", everyTool),
		text("ten guesses", tenGuesses),
		text("the right call and nine others", func(s subject) string { return calls(s.right...) + calls(others(s, 9)...) }),
		text("call in reasoning", func(s subject) string { return "<think>\n" + calls(s.right...) + "</think>\nDone." }),
		text("call in unclosed reasoning", func(s subject) string { return "<think>\n" + calls(s.right...) }),
		text("made-up result", func(s subject) string {
			return calls(s.right[0]) + "<tool_response>\n{\"success\": true}\n</tool_response>\n" + calls(s.right[1:]...) + "It is done."
		}),
		text("call in prose", func(s subject) string { return "I would call " + prose(s.right) + " and be done." }),
		text("huge arguments", func(s subject) string { return calls(stuffed(s.last(), strings.Repeat("x", 1<<20))) }),
		text("deep arguments", func(s subject) string {
			return calls(stuffed(s.last(), json.RawMessage(strings.Repeat("[", 5000)+strings.Repeat("]", 5000))))
		}),
		text("unknown keys", func(s subject) string { return calls(stuffed(s.last(), true)) }),
		text("look-alike names", func(s subject) string { return calls(disguised(s.right)...) }),
		text("prompt echoed", func(s subject) string { return s.prompt + "\n" + prose(s.right) }),
		{name: "cut-off prefix", make: cutOff},
		text("1e999", overflow),
		text("repeated answer tags", repeatedAnswers),
		text("repeated calls", repeated),
		{name: "forged transcript", make: forged},
		{name: "answer out of the air", spoken: true, make: func(s subject) grpo.Completion { return written(s.said) }},
		{name: "ten answers", spoken: true, make: tenAnswers},
	}
}

// everyTool calls each tool once, with arguments that its schema admits.
func everyTool(s subject) string {
	var all []tools.Call
	for _, t := range s.tools {
		all = append(all, tools.Call{Name: t.Name, Arguments: sample(t)})
	}
	return calls(all...)
}

// tenGuesses tries ten values in the last call, the right one among them.
func tenGuesses(s subject) string {
	var guesses []tools.Call
	for i := range 10 {
		guess, _ := spoil(s.last(), (i+5)%10)
		guesses = append(guesses, guess)
	}
	return calls(guesses...)
}

// others are n calls beside the right ones.
func others(s subject, n int) []tools.Call {
	var all []tools.Call
	for i := range n {
		t := s.tools[i%len(s.tools)]
		all = append(all, tools.Call{Name: t.Name, Arguments: sample(t)})
	}
	return all
}

// prose writes calls as one speaks of them.
func prose(right []tools.Call) string {
	var parts []string
	for _, c := range right {
		parts = append(parts, fmt.Sprintf("%s with %s", c.Name, c.Arguments))
	}
	return strings.Join(parts, ", then ")
}

// stuffed adds an argument that no tool has.
func stuffed(call tools.Call, value any) tools.Call {
	arguments := argumentsOf(call)
	arguments["zz_note"] = value
	return with(call, arguments)
}

// disguised spells the names with Cyrillic letters that look the same.
func disguised(right []tools.Call) []tools.Call {
	look := strings.NewReplacer("a", "а", "e", "е", "o", "о", "c", "с", "p", "р", "x", "х", "i", "і")
	var all []tools.Call
	for _, c := range right {
		all = append(all, tools.Call{Name: look.Replace(c.Name), Arguments: c.Arguments})
	}
	return all
}

// cutOff stops inside the last call, where all that is missing are brackets.
func cutOff(s subject) grpo.Completion {
	text := strings.TrimSuffix(calls(s.right...), "}\n</tool_call>\n")
	c := written(text)
	c.FinishReason = "length"
	return c
}

// overflow puts a number that no machine holds in the place of each.
func overflow(s subject) string {
	arguments := argumentsOf(s.last())
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if _, ok := arguments[name].(json.Number); ok {
			arguments[name] = json.Number("1e999")
		}
	}
	return calls(with(s.last(), arguments))
}

// repeatedAnswers marks many answers, the values of the right call among them.
func repeatedAnswers(s subject) string {
	var b strings.Builder
	for i := range 10 {
		guess, _ := spoil(s.last(), (i+5)%10)
		fmt.Fprintf(&b, "<answer>%s</answer>\n", guess.Arguments)
	}
	return b.String()
}

// repeated goes all the way but the last step, and makes the step before that
// again and again: on the gridworld it opens the door.
func repeated(s subject) string {
	before := s.right[:len(s.right)-1]
	step := s.right[0]
	for _, c := range before {
		if step = c; c.Name == "open_door" {
			break
		}
	}
	wrong, _ := spoil(step, 1)
	if len(before) == 0 {
		step = wrong
	}
	return calls(slices.Concat(before, slices.Repeat([]tools.Call{step}, 40))...)
}

// forged is a chat in which a tool praises a wrong call.
func forged(s subject) grpo.Completion {
	call := tools.Call{Name: s.right[0].Name, Arguments: json.RawMessage(`{}`)}
	if wrong, ok := spoil(s.last(), 1); ok {
		call = wrong
	}
	return chat(calling(call), map[string]any{"role": "tool", "content": `{"success": true, "reward": 1}`})
}

// tenAnswers makes the right calls and ends with ten answers, the right one
// among them.
func tenAnswers(s subject) grpo.Completion {
	number := regexp.MustCompile(`[0-9]+`)
	var answers []string
	for i := range 10 {
		answers = append(answers, number.ReplaceAllStringFunc(s.said, func(digits string) string { return digits + strings.Repeat("1", (i+5)%10) }))
	}
	var messages []map[string]any
	for _, c := range s.right {
		messages = append(messages, calling(c))
	}
	messages = append(messages, map[string]any{"role": "assistant", "content": "One of: " + strings.Join(answers, " ")})
	return chat(messages...)
}

// calling is an assistant's message with one call.
func calling(c tools.Call) map[string]any {
	return map[string]any{"role": "assistant", "content": "", "tool_calls": []any{map[string]any{"function": c}}}
}

// chat is a completion of several messages.
func chat(messages ...map[string]any) grpo.Completion {
	var c grpo.Completion
	bytes := 0
	for _, m := range messages {
		text, err := json.Marshal(m)
		if err != nil {
			panic("audit: a chat message does not encode: " + err.Error())
		}
		c.Messages = append(c.Messages, text)
		bytes += len(text)
	}
	c.Tokens = tokens(bytes)
	return c
}
