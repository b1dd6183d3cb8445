package lab

import (
	"fmt"
	"slices"
	"strings"

	"toolgym/grpo/parse"
)

// A specimen is a completion to load into the playground.
type specimen struct {
	Name, Label string
	Draft       draft
}

// forecast is the tool of most specimens, and what is expected of them.
const (
	forecastTool = `[
  {
    "type": "function",
    "function": {
      "name": "get_forecast",
      "description": "Weather forecast for a city.",
      "parameters": {
        "type": "object",
        "properties": {
          "city": {"type": "string"},
          "days": {"type": "integer", "minimum": 1, "maximum": 10}
        },
        "required": ["city", "days"],
        "additionalProperties": false
      }
    }
  }
]`
	forecastCalls = `[{"name": "get_forecast", "arguments": {"city": "Oslo", "days": 3}}]`
)

// specimens lists the examples, without those of environments that are not served.
func (l *Lab) specimens() []specimen {
	return slices.DeleteFunc(specimens(), func(s specimen) bool {
		name, _, _ := strings.Cut(s.Draft.From, "/")
		_, err := l.config.Specs.Lookup(name)
		return name != "" && err != nil
	})
}

func specimens() []specimen {
	weather := func(name, label string, family parse.Family, text string) specimen {
		return specimen{name, label, draft{Text: text, Family: family, Finish: "stop", Tools: forecastTool, Expected: forecastCalls}}
	}
	tagged := func(arguments string) string {
		return "<tool_call>\n{\"name\": \"get_forecast\", \"arguments\": " + arguments + "}\n</tool_call>"
	}
	cut := weather("cut", "Cut off", parse.Hermes, "<tool_call>\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Os")
	cut.Draft.Finish = "length"
	var guesses []string
	for days := range 10 {
		guesses = append(guesses, tagged(fmt.Sprintf(`{"city": "Oslo", "days": %d}`, days+1)))
	}
	right := tagged(`{"city": "Oslo", "days": 3}`)
	return []specimen{
		weather("near", "Near miss", parse.Hermes, "<think>The question is about the next days in Oslo.</think>\n"+tagged(`{"city": "Oslo", "days": 4}`)),
		weather("right", "Right call", parse.Hermes, "<think>Three days, in Oslo.</think>\n"+right),
		weather("types", "Wrong types", parse.Hermes, tagged(`{"city": "Oslo", "days": "3", "units": "metric"}`)),
		weather("fenced", "Fenced JSON", parse.Hermes, "```json\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\", \"days\": 3}}\n```"),
		weather("broken", "Broken JSON", parse.Hermes, tagged(`{"city": "Oslo", "days": 3`)),
		cut,
		weather("madeup", "Made-up result", parse.Hermes, right+"\n<tool_response>\n{\"high\": 4}\n</tool_response>\nIt will be 4 degrees in Oslo."),
		weather("spam", "Ten guesses", parse.Hermes, strings.Join(guesses, "\n")),
		weather("hidden", "Call in reasoning", parse.Hermes, "<think>\nI could write\n"+right+"\nbut I will not.</think>\nIt will be mild."),
		weather("prose", "Only prose", parse.Hermes, "I would call get_forecast for Oslo and three days."),
		weather("llama", "Llama", parse.Llama3JSON, `{"name": "get_forecast", "parameters": {"city": "Oslo", "days": 3}}`),
		weather("pythonic", "Pythonic", parse.Pythonic, `[get_forecast(city="Oslo", days=3)]`),
		weather("mistral", "Mistral", parse.Mistral, `[TOOL_CALLS][{"name": "get_forecast", "arguments": {"city": "Oslo", "days": 3}}]`),
		weather("python", "Python’s quotes", parse.Hermes, tagged(`{'city': 'Oslo', 'days': 3,}`)),
		{"message", "Chat message", draft{As: asMessage, Finish: "stop", Tools: forecastTool, Expected: forecastCalls, Text: `{
  "role": "assistant",
  "content": "",
  "tool_calls": [
    {"id": "call_1", "type": "function",
     "function": {"name": "get_forecast", "arguments": "{\"city\": \"Oslo\", \"days\": 4}"}}
  ]
}`}},
		{"task", "A task of arithmetic", draft{Family: parse.Hermes, Finish: "stop", From: "arithmetic/0", Task: "arithmetic/0/17", Text: strings.Join([]string{
			"<think>First 9 times 3, then 7 more.</think>",
			`<tool_call>{"name": "multiply", "arguments": {"a": 9, "b": 3}}</tool_call>`,
			`<tool_call>{"name": "add", "arguments": {"a": 27, "b": 7}}</tool_call>`,
			`<tool_call>{"name": "answer", "arguments": {"value": 34}}</tool_call>`}, "\n")}},
	}
}
