package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/tools"
)

type order struct {
	Count int         `json:"count" jsonschema:"minimum=1,maximum=5000"`
	Price json.Number `json:"price"`
	Size  string      `json:"size,omitempty" jsonschema:"enum=small,enum=large"`
}

type receipt struct {
	Text string `json:"text"`
}

func orderTool() tools.Tool {
	return tools.New("order", "Orders.", func(_ context.Context, in order) (receipt, error) {
		if in.Price == "0" {
			return receipt{}, tools.Mistakef("nothing is free")
		}
		if in.Price == "-1" {
			return receipt{}, errors.New("disk on fire")
		}
		return receipt{fmt.Sprintf("%d at %s %s", in.Count, in.Price, in.Size)}, nil
	})
}

func TestNewWritesAClosedSchema(t *testing.T) {
	got, err := json.Marshal(orderTool())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"function","function":{"name":"order","description":"Orders.","parameters":` +
		`{"properties":{"count":{"type":"integer","maximum":5000,"minimum":1},"price":{"type":"number"},"size":{"type":"string","enum":["small","large"]}},` +
		`"additionalProperties":false,"type":"object","required":["count","price"]}}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestCall(t *testing.T) {
	tests := []struct{ name, arguments, want, violates string }{
		{"plain", `{"count":2,"price":1.10,"size":"small"}`, `{"text":"2 at 1.10 small"}`, ""},
		{"integer written as 1.0", `{"count":1.0,"price":1}`, `{"text":"1 at 1 "}`, ""},
		{"integer written as 1e3", `{"count":1e3,"price":1}`, `{"text":"1000 at 1 "}`, ""},
		{"digits beyond float64", `{"count":1,"price":9007199254740993}`, `{"text":"1 at 9007199254740993 "}`, ""},
		{"handler's mistake", `{"count":1,"price":0}`, `{"error":"nothing is free"}`, ""},
		{"fraction for an integer", `{"count":1.5,"price":1}`, "", "/count type"},
		{"string for a number", `{"count":"1","price":1}`, "", "/count type"},
		{"over the maximum", `{"count":5001,"price":1}`, "", "/count maximum"},
		{"not in the enum", `{"count":1,"price":1,"size":"huge"}`, "", "/size enum"},
		{"missing", `{"count":1}`, "", " required"},
		{"unknown key", `{"count":1,"price":1,"colour":"red"}`, "", " additionalProperties"},
		{"key in another case", `{"Count":1,"count":1,"price":1}`, "", " additionalProperties"},
		{"null", `null`, "", " type"},
		{"array", `[]`, "", " type"},
		{"no JSON", `{"count":`, "", " json"},
		{"two values", `{"count":1,"price":1} {}`, "", " json"},
		{"exponent bomb", `{"count":1e999999999,"price":1}`, "", "/count number"},
		{"empty text means no arguments", ``, "", " required"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tool := orderTool()
			result, err := tool.Call(t.Context(), json.RawMessage(test.arguments))
			if err != nil {
				t.Fatal(err)
			}
			if test.violates == "" {
				if diff := cmp.Diff(test.want, string(result.Content)); diff != "" {
					t.Error(diff)
				}
				return
			}
			if !result.IsError {
				t.Errorf("accepted: %s", result.Content)
			}
			if test.arguments == "" {
				return
			}
			violations := tool.Validate(json.RawMessage(test.arguments))
			if len(violations) == 0 || violations[0].Pointer+" "+violations[0].Keyword != test.violates {
				t.Errorf("violations %+v, want %s", violations, test.violates)
			}
		})
	}
}

func TestCallKeepsOurFaultsApart(t *testing.T) {
	_, err := orderTool().Call(t.Context(), json.RawMessage(`{"count":1,"price":-1}`))
	if err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Errorf("error %v, want the handler's own", err)
	}
}

func TestEveryViolationIsNamed(t *testing.T) {
	got := orderTool().Validate(json.RawMessage(`{"count":0,"price":"1","size":"huge"}`))
	var where []string
	for _, v := range got {
		where = append(where, v.Pointer)
	}
	if diff := cmp.Diff([]string{"/count", "/price", "/size"}, where); diff != "" {
		t.Error(diff)
	}
}

// The same arguments break their schema in the same words each time, although
// the validator goes through them as a map.
func TestViolationsComeInOneOrder(t *testing.T) {
	tool, err := tools.Declare("f", "", json.RawMessage(`{"type":"object","properties":{"p":{}},"additionalProperties":false,
		"dependentRequired":{"a":["x"],"b":["y"],"c":["z"]},"patternProperties":{"^p":{"type":"string"},"p$":{"type":"boolean"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	arguments := json.RawMessage(`{"d":1,"c":1,"b":1,"a":1,"p":1}`)
	first := tool.Validate(arguments)
	if len(first) != 6 || first[0].Message != "additional properties 'a', 'b', 'c', 'd' not allowed" || first[1].Keyword != "dependentRequired" {
		t.Fatalf("%q", first)
	}
	for range 50 {
		if diff := cmp.Diff(first, tool.Validate(arguments)); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestDeepArgumentsAreRefusedNotFollowed(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000)
	if got := orderTool().Validate(json.RawMessage(deep)); len(got) == 0 {
		t.Error("10,000 levels of nesting were accepted")
	}
}

func TestDeclare(t *testing.T) {
	tests := []struct{ name, parameters, refused string }{
		{"local reference", `{"type":"object","properties":{"a":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"number"}}}`, ""},
		{"recursive", `{"type":"object","properties":{"child":{"$ref":"#"}}}`, ""},
		{"reference to a file", `{"type":"object","properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "leaves the schema"},
		{"reference to a host", `{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:1/s.json"}}}`, "leaves the schema"},
		{"no JSON", `{`, "JSON"},
		{"wrong keyword type", `{"type":"object","properties":7}`, "properties"},
		{"not an object's", `{"type":"string"}`, "object"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := tools.Declare("f", "", json.RawMessage(test.parameters))
			if test.refused == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e *tools.Error
			if !errors.As(err, &e) || e.Code != tools.Invalid || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("error %v, want one about %q", err, test.refused)
			}
		})
	}
}

func TestDeclaredToolRoundTrips(t *testing.T) {
	text := `{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{},"x-order":[2,1]}}}`
	var tool tools.Tool
	if err := json.Unmarshal([]byte(text), &tool); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(tool)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, string(again)); diff != "" {
		t.Error(diff)
	}
	if _, err := tool.Call(t.Context(), nil); err == nil {
		t.Error("a tool without a handler was called")
	}
}

func TestNewPanicsOnWhatNoSchemaDescribes(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a string was taken for an arguments object")
		}
	}()
	tools.New("f", "", func(context.Context, string) (string, error) { return "", nil })
}

func TestSet(t *testing.T) {
	set := tools.Set{orderTool()}
	result, err := set.Call(t.Context(), tools.Call{Name: "Order"})
	if err != nil || !result.IsError || !strings.Contains(string(result.Content), "order") {
		t.Errorf("unknown name: %s, %v", result.Content, err)
	}
	if err := (tools.Set{orderTool(), orderTool()}).Validate(); err == nil {
		t.Error("a name stands twice and nobody minds")
	}
}
