package rollout_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/ollama/ollama/api"

	"toolgym/grpo/rollout"
	"toolgym/tools"
)

// BenchmarkTurn asks one turn of a server that answers at once: over our own
// transport, played in an environment, and by the stock client alone.
func BenchmarkTurn(b *testing.B) {
	address := steady(b, rightCall)
	set := adder(b)
	b.Run("rollout", func(b *testing.B) {
		chat := rollout.Chat{Config: config(address)}
		env, task := &sums{set: set}, prompt("user")
		b.ReportAllocs()
		for b.Loop() {
			if got, err := chat.Run(b.Context(), env, task, 1); err != nil || !got.Trajectory.Success {
				b.Fatal(got.Failure, err)
			}
		}
	})
	b.Run("stock client", func(b *testing.B) {
		where, err := url.Parse(address)
		if err != nil {
			b.Fatal(err)
		}
		client, stream := api.NewClient(where, http.DefaultClient), false
		request := &api.ChatRequest{Model: "m", Messages: []api.Message{{Role: "user", Content: "USER"}}, Stream: &stream, Tools: converted(b, set)}
		b.ReportAllocs()
		for b.Loop() {
			if err := client.Chat(b.Context(), request, func(api.ChatResponse) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func converted(b *testing.B, set tools.Set) api.Tools {
	b.Helper()
	var list api.Tools
	for _, tool := range set {
		list = append(list, api.Tool{Type: "function", Function: api.ToolFunction{Name: tool.Name, Description: tool.Description}})
	}
	return list
}
