package parse_test

import (
	"encoding/json"
	"fmt"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

// A trailing comma is repaired, and the reading says so; the text "2" for an
// integer is not converted.
func ExampleReader_Read() {
	forecast, err := tools.Declare("get_forecast", "Weather forecast.", json.RawMessage(
		`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city","days"],"additionalProperties":false}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	reader := parse.NewReader(tools.Set{forecast})
	text := "<tool_call>\n{\"name\": \"get_forecast\", \"arguments\": {\"city\": \"Oslo\", \"days\": \"2\",}}\n</tool_call>"
	reading, err := reader.Read(parse.Input{Text: &text, Family: parse.Hermes})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(reading.Tier, *reading.SchemaValid, reading.Attempts[0].Defects, string(reading.Calls[0].Arguments))
	// Output:
	// syntax false [trailing_comma type_mismatch coercible] {"city":"Oslo","days":"2"}
}
