package research_test

import (
	"context"
	"encoding/json"
	"fmt"

	"toolgym/tools/research"
)

// The tools need no episode.
func ExampleSpec() {
	set := research.Spec().Tools("", "")
	calculator, _ := set.Lookup("calculator")
	result, err := calculator.Call(context.Background(), json.RawMessage(`{"expression":"(137-120)/120*100"}`))
	fmt.Println(set.Names(), string(result.Content), err)
	// Output:
	// [financial_search calculator] {"result":14.1666666667} <nil>
}
