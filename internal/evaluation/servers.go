package evaluation

import (
	"context"
	"fmt"
	"slices"

	"toolgym/grpo/eval"
	"toolgym/grpo/rollout"
	"toolgym/internal/modelserver"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// servers asks every server and makes it ready to play. The digest is the
// model's, which must be the same on all of them.
func (r Request) servers(ctx context.Context, specs tools.Specs) (servers []eval.Server, digest string, err error) {
	if r.OpenAI != "" {
		driver := rollout.OpenAI{Config: r.config(r.OpenAI)}
		if err := driver.Check(ctx); err != nil {
			return nil, "", err
		}
		server := eval.Server{Address: modelserver.Display(r.OpenAI), Concurrency: r.Concurrency, Drivers: map[string]eval.Driver{RouteOpenAI: driver}}
		return []eval.Server{server}, "name:" + r.Model, nil // such servers tell no digest
	}
	if r.Route == RouteAgent {
		server := eval.Server{Address: "none", Concurrency: r.Concurrency, Drivers: map[string]eval.Driver{RouteAgent: agentDriver{r.Model, specs}}}
		return []eval.Server{server}, "agent:" + r.Model, nil
	}
	for _, address := range r.Ollama {
		if slices.ContainsFunc(servers, func(s eval.Server) bool { return s.Address == modelserver.Display(address) }) {
			return nil, "", refusal.New("ollama", "each server once", "%s is named twice", modelserver.Display(address))
		}
		model, err := r.config(address).Probe(ctx)
		if err != nil {
			return nil, "", err
		}
		if digest != "" && model.Digest != digest {
			return nil, "", &tools.Error{Code: tools.Conflict, Where: "ollama", Message: fmt.Sprintf("%s has another model behind the name %s than %s", modelserver.Display(address), r.Model, modelserver.Display(r.Ollama[0])), Want: "the same digest on all servers"}
		}
		digest = model.Digest
		server, err := r.server(address, model)
		if err != nil {
			return nil, "", err
		}
		servers = append(servers, server)
	}
	return servers, digest, nil
}

// server has a driver for each of the run's routes.
func (r Request) server(address string, model rollout.Model) (eval.Server, error) {
	config := r.config(address)
	s := eval.Server{Address: modelserver.Display(address), Version: model.Version, Template: model.TemplateHash, Concurrency: r.Concurrency, Drivers: map[string]eval.Driver{}}
	for _, route := range r.routes() {
		switch {
		case route == RouteRaw:
			s.Drivers[route] = rollout.Raw{Config: config, Template: model.Template}
		case !model.Tools:
			return s, &tools.Error{Code: tools.Conflict, Where: "model", Message: fmt.Sprintf("the server at %s has no tool support for %s", modelserver.Display(address), r.Model), Want: "--route raw, or another model"}
		default:
			s.Drivers[route] = rollout.Chat{Config: config}
		}
	}
	return s, nil
}
