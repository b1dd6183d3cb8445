package parse_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"toolgym/grpo/parse"
	"toolgym/internal/strictjson"
	"toolgym/tools"
)

// fieldCase is one line of testdata/tool_calls.jsonl: a real failure, and its
// right reading.
type fieldCase struct {
	ID           string          `json:"id"`
	Family       parse.Family    `json:"family"`
	FinishReason string          `json:"finish_reason"`
	Input        json.RawMessage `json:"input"`
	Tools        tools.Set       `json:"tools"`
	Expected     struct {
		Calls       []tools.Call   `json:"calls"`
		FormatOK    bool           `json:"format_ok"`
		SchemaValid *bool          `json:"schema_valid"`
		Tier        parse.Tier     `json:"tier"`
		Defects     []parse.Defect `json:"defects"`
	} `json:"expected"`
}

// request makes the input of a case: text, a stream, or a server's message.
func (c fieldCase) request(t *testing.T) parse.Request {
	t.Helper()
	r := parse.Request{Input: parse.Input{Family: c.Family, FinishReason: c.FinishReason}, Tools: c.Tools}
	var stream struct{ Stream []json.RawMessage }
	switch {
	case c.Input[0] == '"':
		r.Text = new(string)
		if err := json.Unmarshal(c.Input, r.Text); err != nil {
			t.Fatal(err)
		}
	case json.Unmarshal(c.Input, &stream) == nil && stream.Stream != nil:
		r.Stream = stream.Stream
	default:
		r.Message = c.Input
	}
	return r
}

func fieldCases(t testing.TB) (cases []fieldCase) {
	t.Helper()
	data, err := os.ReadFile("testdata/tool_calls.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var c fieldCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	return cases
}

// equalCalls compares names exactly and arguments as JSON values.
func equalCalls(a, b tools.Call) bool {
	x, err := strictjson.Decode(a.Arguments)
	if err != nil {
		return false
	}
	y, err := strictjson.Decode(b.Arguments)
	return err == nil && a.Name == b.Name && strictjson.Equal(x, y)
}

func TestFieldCases(t *testing.T) {
	cases := fieldCases(t)
	if len(cases) != 88 {
		t.Fatalf("%d cases, want 88", len(cases))
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			got, err := c.request(t).Read()
			if err != nil {
				t.Fatal(err)
			}
			want := c.Expected
			if diff := cmp.Diff(want.Calls, got.Calls, cmp.Comparer(equalCalls), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("calls: %s", diff)
			}
			if got.Tier != want.Tier || got.FormatOK != want.FormatOK {
				t.Errorf("tier %s, format_ok %t; want %s, %t", got.Tier, got.FormatOK, want.Tier, want.FormatOK)
			}
			if diff := cmp.Diff(want.SchemaValid, got.SchemaValid); diff != "" {
				t.Errorf("schema_valid: %s", diff)
			}
			sorted := cmpopts.SortSlices(func(a, b parse.Defect) bool { return a < b })
			if diff := cmp.Diff(want.Defects, got.Defects, sorted, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("defects: %s", diff)
			}
		})
	}
}

const forecast = `get_forecast{"city":"Oslo"}`

// hermesOslo is the plain call in the hermes form.
var hermesOslo = hermesCall("get_forecast", `{"city": "Oslo"}`)

// inTag puts a payload into the hermes tag.
func inTag(payload string) string { return "<tool_call>\n" + payload + "\n</tool_call>" }

func TestPayloads(t *testing.T) {
	readRows(t, parse.Hermes, []row{
		{"parameters for arguments", inTag(`{"name": "get_forecast", "parameters": {"city": "Oslo"}}`), "strict: " + forecast},
		{"arguments as a string", inTag(`{"name": "get_forecast", "arguments": "{\"city\": \"Oslo\"}"}`), "envelope: " + forecast + " [arguments_as_string]"},
		{"arguments as a string of no object", inTag(`{"name": "get_forecast", "arguments": "Oslo"}`), "none: [arguments_not_object]"},
		{"arguments as a string of two objects", inTag(`{"name": "get_forecast", "arguments": "{}{}"}`), "none: [arguments_not_object]"},
		{"arguments as a list", inTag(`{"name": "get_forecast", "arguments": ["Oslo"]}`), "none: [arguments_not_object]"},
		{"arguments null", inTag(`{"name": "list_rooms", "arguments": null}`), "envelope: list_rooms{} [arguments_missing]"},
		{"arguments empty", inTag(`{"name": "list_rooms", "arguments": ""}`), "envelope: list_rooms{} [arguments_missing]"},
		{"both keys", inTag(`{"name": "list_rooms", "arguments": {}, "parameters": {}}`), "none: [ambiguous_arguments]"},
		{"input key", inTag(`{"name": "list_rooms", "input": {}}`), "none: [unknown_envelope]"},
		{"extra key", inTag(`{"name": "list_rooms", "arguments": {}, "reason": "x"}`), "envelope: list_rooms{} [extra_key]"},
		{"flat type key", inTag(`{"type": "function", "name": "list_rooms", "arguments": {}}`), "envelope: list_rooms{} [openai_shape_in_text]"},
		{"name is a number", inTag(`{"name": 5, "arguments": {}}`), "none: [missing_name]"},
		{"name is blank", inTag(`{"name": "", "arguments": {}}`), "none: [missing_name]"},
		{"name in other case", inTag(`{"name": "List_Rooms", "arguments": {}}`), "strict: List_Rooms{} [unknown_tool]"},
		{"name with a look-alike", inTag(`{"name": "list_rооms", "arguments": {}}`), "strict: list_rооms{} [unknown_tool]"},
		{"control token in the name", inTag(`{"name": "list_rooms<|im_end|>", "arguments": {}}`), "envelope: list_rooms{} [control_token_in_name]"},
		{"keys in another order", inTag(`{"arguments": {"city": "Oslo"}, "name": "get_forecast"}`), "strict: " + forecast},
		{"empty list", inTag(`[]`), "none: [missing_name]"},
		{"list with a broken item", inTag(`[{"name": "list_rooms", "arguments": {}}, {"name": "x"`), "envelope: list_rooms{} [array_in_tag unbalanced_braces]"},
	})
}

func TestSpelling(t *testing.T) {
	call := func(arguments string) string { return inTag(`{"name": "save_note", "arguments": ` + arguments + `}`) }
	readRows(t, parse.Hermes, []row{
		{"trailing comma", call(`{"title": "T", "body": "B",}`), `syntax: save_note{"body":"B","title":"T"} [trailing_comma]`},
		{"stray brace", call(`{"title": "T", "body": "B"}}`), `syntax: save_note{"title":"T","body":"B"} [stray_closer]`},
		{"lone surrogate", call(`{"title": "\ud83c", "body": "B"}`), "syntax: save_note{\"body\":\"B\",\"title\":\"\uFFFD\"} [lone_surrogate]"},
		{"Python's literals", call(`{'title': 'T', 'body': "it's", 'tags': [None]}`), `syntax: save_note{"body":"it's","tags":[null],"title":"T"} [python_literal type_mismatch]`},
		{"raw tab", call("{\"title\": \"T\", \"body\": \"a\tb\"}"), `syntax: save_note{"body":"a\tb","title":"T"} [raw_control_character]`},
		{"two kinds", call("{'title': 'T', 'body': 'a\nb',}"), `syntax: save_note{"body":"a\nb","title":"T"} [python_literal raw_control_character trailing_comma]`},
		{"bad escape", call(`{"title": "T", "body": "\d"}`), "none: [bad_escape]"},
		{"infinity", call(`{"title": "T", "body": -Infinity}`), "none: [non_finite_number]"},
		{"nested duplicate", call(`{"title": "T", "body": {"a": 1, "a": 1}}`), "none: [duplicate_key]"},
		{"two names", inTag(`{"name": "f", "name": "list_rooms", "arguments": {}}`), "none: [duplicate_key]"},
		{"invalid UTF-8", call("{\"title\": \"T\", \"body\": \"\xff\"}"), "none: [invalid_utf8]"},
		{"comment", call(`{"title": "T", /* B */ "body": "B"}`), "none: [invalid_json]"},
		{"bare key", call(`{title: "T"}`), "none: [invalid_json]"},
		{"missing comma", call(`{"title": "T" "body": "B"}`), "none: [unescaped_quote]"},
		{"wrong bracket", call(`{"title": "T", "body": ["B"}`), "none: [unbalanced_braces]"},
		{"string never ends", call(`{"title": "T}`), "none: [unterminated_string]"},
		{"too deep", call(strings.Repeat("[", 500)), "none: [too_deep]"},
		{"huge exponent", inTag(`{"name": "convert_amount", "arguments": {"amount": 1e999999999, "source": "EUR", "target": "NOK"}}`),
			`strict: convert_amount{"amount":1e999999999,"source":"EUR","target":"NOK"} [constraint_violation]`},
		{"integer beyond 2^53", inTag(`{"name": "lookup_order", "arguments": {"order_id": 9007199254740993}}`), `strict: lookup_order{"order_id":9007199254740993}`},
		{"integer by value", inTag(`{"name": "lookup_order", "arguments": {"order_id": 1e3}}`), `strict: lookup_order{"order_id":1e3}`},
		{"no integer", inTag(`{"name": "lookup_order", "arguments": {"order_id": 1.5}}`), `strict: lookup_order{"order_id":1.5} [type_mismatch]`},
		{"one lost, one kept", call(`{"title": NaN}`) + hermesOslo, "envelope: " + forecast + " [non_finite_number]"},
		{"broken string does not swallow the next call", "<tool_call>\n{\"name\": \"save_note, \"arguments\": {}}\n</tool_call>\n" + hermesOslo, "envelope: " + forecast + " [unescaped_quote]"},
	})
}

func TestWrappers(t *testing.T) {
	object := `{"name": "get_forecast", "arguments": {"city": "Oslo"}}`
	readRows(t, parse.Hermes, []row{
		{"two calls in a tag", inTag(object + "\n" + `{"name": "list_rooms", "arguments": {}}`), "envelope: " + forecast + " list_rooms{} [several_in_tag]"},
		{"fence in the tag", inTag("```json\n" + object + "\n```"), "envelope: " + forecast + " [code_fence]"},
		{"text behind the payload", inTag(object + " please"), "envelope: " + forecast + " [missing_close_tag trailing_text]"},
		{"another closer", "<tool_call>" + object + "</tool_calls>", "envelope: " + forecast + " [missing_close_tag]"},
		{"no closer, then another call", "<tool_call>" + object + "\n" + hermesOslo, "envelope: " + forecast + " " + forecast + " [missing_close_tag]"},
		{"no closer at the token limit (cut)", "<tool_call>" + object, "envelope: " + forecast + " [missing_close_tag]"},
		{"no opener", object + "\n</tool_call>", "envelope: " + forecast + " [missing_open_tag]"},
		{"opener alone (cut)", "<tool_call>\n", "none: [truncated]"},
		{"text behind the call", hermesOslo + "\nDone.", "envelope: " + forecast + " [trailing_text]"},
		{"text between calls", hermesOslo + "\nAnd also:\n" + hermesOslo, "strict: " + forecast + " " + forecast},
		{"closer inside a string", hermesCall("save_note", `{"title": "</tool_call>", "body": "<tool_call>{}"}`), `strict: save_note{"title":"</tool_call>","body":"<tool_call>{}"}`},
		{"mistral's token around objects", "[TOOL_CALLS][" + object + "]", "envelope: " + forecast + " [wrong_wrapper]"},
		{"python tag", "<|python_tag|>" + object, "envelope: " + forecast + " [wrong_wrapper]"},
		{"some other marker", "<|action_start|><|plugin|>" + object + "<|action_end|>", "envelope: " + forecast + " [wrong_wrapper]"},
		{"marker around data", "<|data|>{\"name\": \"Ada\"}", "answer:"},
		{"recipient of another family", "analysisHm.assistantcommentary to=functions.get_forecast json{}", "none: [unknown_envelope]"},
		{"alias without closer", "<function_call>" + object, "envelope: " + forecast + " [missing_close_tag wrong_wrapper]"},
		{"alias with broken payload", "<tools>{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\"}</tools>", "none: [unbalanced_braces]"},
		{"echoed declarations", `<tools>[{"type": "function", "function": {"name": "list_rooms", "description": "List.", "parameters": {"type": "object"}}}]</tools>`, "answer:"},
		{"tag in prose", "Use the <tool_call> tag, or <tool_call> and </tool_call> around it.", "answer:"},
		{"empty tag in prose", "The pair <tool_call></tool_call> is empty.", "answer:"},
		{"empty tag alone", "<tool_call>\n</tool_call>", "none: [missing_name]"},
		{"expression in the tag", inTag(`get_forecast(city="Oslo")`), "none: [unknown_envelope]"},
		{"name and object in the tag", inTag("get_forecast\n{\"city\": \"Oslo\"}"), "none: [unknown_envelope]"},
		{"qwen3-coder's form", qwenCall("get_forecast", "<parameter=city>\nOslo\n</parameter>\n"), "none: [unknown_envelope]"},
		{"mistral's named form", "[TOOL_CALLS]get_forecast[ARGS]{\"city\": \"Oslo\"}", "none: [unknown_envelope]"},
		{"an agent's protocol", "Action: get_forecast\nAction Input: {\"city\": \"Oslo\"}", "none: [unknown_envelope]"},
		{"a tag of the tool's name", "<get_forecast>{\"city\": \"Oslo\"}</get_forecast>", "none: [unknown_envelope]"},
		{"prose with the tool's name", "I would use get_forecast for that.", "answer:"},
	})
}

func TestBareObjects(t *testing.T) {
	object := `{"name": "get_forecast", "arguments": {"city": "Oslo"}}`
	readRows(t, parse.Hermes, []row{
		{"alone", object, "envelope: " + forecast + " [missing_wrapper]"},
		{"behind reasoning", "<think>hm</think>\n" + object, "envelope: " + forecast + " [missing_wrapper]"},
		{"in prose", "I would send " + object, "answer:"},
		{"with prose behind", object + " is what I would send.", "answer:"},
		{"list", "[" + object + "]", "envelope: " + forecast + " [missing_wrapper]"},
		{"nested shape", `{"type": "function", "function": ` + object + `}`, "envelope: " + forecast + " [missing_wrapper openai_shape_in_text]"},
		{"chat message", `{"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": ` + object + `}]}`, "envelope: " + forecast + " [openai_shape_in_text]"},
		{"name only, undeclared", `{"name": "Ada"}`, "answer:"},
		{"other protocol, undeclared", `{"method": "fly", "params": {}}`, "answer:"},
		{"other protocol, declared", `{"tool": "get_forecast", "args": {"city": "Oslo"}}`, "none: [unknown_envelope]"},
		{"a declaration", `{"name": "list_rooms", "description": "Lists rooms.", "parameters": {"type": "object"}}`, "answer:"},
		{"data that quotes a call", `{"example": "<tool_call>{\"name\": \"list_rooms\", \"arguments\": {}}</tool_call>"}`, "answer:"},
		{"cut off (cut)", `{"name": "get_forecast", "arguments": {"ci`, "none: [truncated]"},
		{"cut off, undeclared (cut)", `{"name": "Ada", "arguments": {"ci`, "answer:"},
		{"made-up result behind", object + "\n<tool_response>{}</tool_response>", "envelope: " + forecast + " [fabricated_tool_result missing_wrapper]"},
		{"fence", "```json\n" + object + "\n```", "envelope: " + forecast + " [code_fence]"},
		{"fence without closer", "```\n" + object, "envelope: " + forecast + " [code_fence]"},
		{"two fences", "```json\n" + object + "\n```\n```json\n" + object + "\n```", "envelope: " + forecast + " " + forecast + " [code_fence]"},
		{"fence around a tag", "```xml\n" + hermesOslo + "\n```", "envelope: " + forecast + " [code_fence]"},
		{"tag in a fence with prose", "Like this:\n```\n" + hermesOslo + "\n```\nUse it.", "answer:"},
		{"documentation, then a call", "Like this:\n```\n" + hermesOslo + "\n```\nNow for real:\n" + hermesOslo, "strict: " + forecast},
		{"expressions", "get_forecast(city=\"Oslo\")\nlist_rooms()", "envelope: " + forecast + " list_rooms{} [missing_wrapper]"},
		{"expressions and prose", "get_forecast(city=\"Oslo\") gives the weather", "answer:"},
		{"expression of an unknown tool", "print(x=1)", "answer:"},
	})
}

// declaredTools are the tools of the field cases, together.
func declaredTools(t testing.TB) tools.Set {
	t.Helper()
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var set tools.Set
	if err := json.Unmarshal(data, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// summary writes a reading in one line: its tier, its calls, its defects.
//
//	envelope: f{"a":1} g{} [missing_close_tag]
func summary(r parse.Reading) string {
	parts := []string{string(r.Tier) + ":"}
	for _, call := range r.Calls {
		parts = append(parts, call.Name+compact(call.Arguments))
	}
	var defects []string
	for _, d := range r.Defects {
		defects = append(defects, string(d))
	}
	if slices.Sort(defects); len(defects) > 0 {
		parts = append(parts, "["+strings.Join(defects, " ")+"]")
	}
	return strings.Join(parts, " ")
}

// row is one text and the summary of its right reading.
type row struct{ name, text, want string }

// readRows checks rows of one family; a name that ends in "(cut)" has the
// finish reason length.
func readRows(t *testing.T, family parse.Family, rows []row) {
	t.Helper()
	reader := parse.NewReader(declaredTools(t))
	for _, r := range rows {
		t.Run(string(family)+"/"+r.name, func(t *testing.T) {
			finish := "stop"
			if strings.HasSuffix(r.name, "(cut)") {
				finish = "length"
			}
			got, err := reader.Read(parse.Input{Text: &r.text, Family: family, FinishReason: finish})
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(got); got != r.want {
				t.Errorf("\n got %s\nwant %s", got, r.want)
			}
			checkInvariants(t, r.text, got)
		})
	}
}

// checkInvariants checks what holds for every reading of a text.
func checkInvariants(t testing.TB, text string, r parse.Reading) {
	t.Helper()
	if r.FormatOK != (r.Tier == parse.Strict || r.Tier == parse.Answer) {
		t.Errorf("tier %s with format_ok %t", r.Tier, r.FormatOK)
	}
	counted, before := 0, 0
	for i, a := range r.Attempts {
		if a.Span.Start < 0 || a.Span.Start > a.Span.End || a.Span.End > len(text) {
			t.Errorf("attempt %d spans %v of %d bytes", i, a.Span, len(text))
		}
		if a.Span.Start < before {
			t.Errorf("attempt %d starts at %d, inside the one before", i, a.Span.Start)
		}
		before = a.Span.End
		if a.Counts() != (a.Status == parse.StatusOK) {
			t.Errorf("attempt %d has status %s and tier %s", i, a.Status, a.Tier)
		}
		if a.Counts() {
			counted++
		}
		if a.Counts() && !json.Valid(a.Arguments) {
			t.Errorf("attempt %d has arguments %q", i, a.Arguments)
		}
		if a.Family == parse.Auto && a.Counts() {
			t.Errorf("attempt %d has no family", i)
		}
	}
	if counted != len(r.Calls) || (r.SchemaValid == nil) != (counted == 0) {
		t.Errorf("%d attempts count, %d calls, schema_valid %v", counted, len(r.Calls), r.SchemaValid)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// compact removes the blanks between the parts of a JSON text.
func compact(text json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return "!" + string(text)
	}
	return b.String()
}
