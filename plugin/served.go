package plugin

import (
	"context"
	"encoding/json"

	"toolgym/api/client"
	"toolgym/tools"
)

// Served binds tools that need no episode to a running "toolgym serve", which
// carries out their calls. Arguments are checked here and there. For an episode
// of the server no binding is needed: a client's Episode is a [tools.Caller].
func Served(c *client.Client, set tools.Set) tools.Set {
	served := make(tools.Set, len(set))
	for i, t := range set {
		served[i] = tools.Bind(t, func(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
			return unwrap(c.CallTool(ctx, t.Name, arguments))
		})
	}
	return served
}
