package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"toolgym/api/client"
	"toolgym/tools"
)

func (s *Server) toolRoutes() {
	handle(s, route{id: "call-tool", method: http.MethodPost, path: "/v1/tools/{name}/calls", tag: "tools", role: Play,
		summary: "Call a tool that needs no episode",
		text: "Tools whose result depends on their arguments alone can be called like this. Arguments that break the schema " +
			"are the agent's mistake: 200, with is_error set. Where two environments have a tool of the name, the first is called, or the one that env names.",
		refusals: []int{http.StatusNotFound, http.StatusConflict, http.StatusServiceUnavailable},
		request:  client.Arguments{Arguments: json.RawMessage(`{"a":9,"b":3}`)},
		answer:   tools.Result{Content: json.RawMessage(`{"result":27}`)},
	}, s.callTool)
}

type toolCall struct {
	Name string `path:"name" doc:"The name of a tool."`
	Env  string `query:"env" doc:"The environment whose tool is meant."`
	Sent body[client.Arguments]
}

func (s *Server) callTool(ctx context.Context, in *toolCall) (*reply[tools.Result], error) {
	tool, err := s.lookupTool(in.Name, in.Env)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.config.CallTimeout)
	defer cancel()
	result, err := tool.Call(ctx, in.Sent.value.Arguments)
	if err != nil {
		return nil, fmt.Errorf("calling %s: %w", tool.Name, err)
	}
	return answered(result), nil
}

// An offer is a tool as one environment has it. A tool that some level can
// call by itself is offered as that level has it.
type offer struct {
	env  string
	tool tools.Tool
}

// offers lists the tools of all environments by name, in their order.
func offers(specs tools.Specs) map[string][]offer {
	found := map[string][]offer{}
	for _, spec := range specs {
		for _, level := range spec.Levels {
			for _, tool := range spec.Tools("", level) {
				found[tool.Name] = offered(found[tool.Name], offer{spec.Name, tool})
			}
		}
	}
	return found
}

// offered adds an offer, at most one an environment.
func offered(list []offer, o offer) []offer {
	for i := range list {
		if list[i].env == o.env {
			if !list[i].tool.Callable() {
				list[i] = o
			}
			return list
		}
	}
	return append(list, o)
}

// lookupTool finds a tool that can be called by itself. One that is only to be
// had within an episode is a conflict, one that is nowhere is not found.
func (s *Server) lookupTool(name, env string) (tools.Tool, error) {
	if env != "" {
		if _, err := s.config.Specs.Lookup(env); err != nil {
			return tools.Tool{}, err
		}
	}
	known := false
	for _, o := range s.offers[name] {
		if env != "" && o.env != env {
			continue
		}
		if o.tool.Callable() {
			return o.tool, nil
		}
		known = true
	}
	if known {
		return tools.Tool{}, &tools.Error{Code: tools.Conflict, Where: "name", Message: fmt.Sprintf("the tool %q acts on an episode", name), Want: "POST /v1/episodes, then its calls"}
	}
	return tools.Tool{}, &tools.Error{Code: tools.NotFound, Where: "name", Message: fmt.Sprintf("there is no tool %.80q", name), Want: "one that GET /v1/envs lists"}
}
