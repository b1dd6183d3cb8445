package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/api/dialect/trl"
)

// scriptType is the media type of Python programs.
const scriptType = "text/x-python"

func (s *Server) trainerRoutes() {
	handle(s, route{id: "export-trl", method: http.MethodPost, path: "/v1/export/trl", tag: "scores", role: Score,
		refusals: []int{http.StatusNotFound},
		summary:  "A training script with the configured reward",
		text: "A Python program that trains a model with Hugging Face TRL's GRPOTrainer on tasks of an environment, and has its completions scored by POST /v1/score. " +
			"It sets the arguments that the installed GRPOConfig has, and prints which it left out. Every field may be absent. " +
			"A token stands nowhere in it: it is read from the variable TOOLGYM_TOKEN.",
		request: trl.Default(),
	}, s.exportTRL)
	answer := s.api.OpenAPI().Paths["/v1/export/trl"].Post.Responses["200"]
	answer.Description = "The script."
	answer.Content = map[string]*huma.MediaType{scriptType: {Schema: &huma.Schema{Type: huma.TypeString}, Example: "#!/usr/bin/env python3\n…"}}
}

type trainerOrder struct{ Sent body[trl.Settings] }

// A script is an answer that is a file.
type script struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

func (s *Server) exportTRL(_ context.Context, in *trainerOrder) (*script, error) {
	settings := in.Sent.value
	spec, err := s.config.Specs.Lookup(settings.Env)
	if err != nil {
		return nil, err
	}
	if _, err := spec.Task(settings.Rules, settings.Level, settings.Seed); err != nil {
		return nil, err
	}
	text, err := settings.Script()
	if err != nil {
		return nil, err
	}
	return &script{scriptType + "; charset=utf-8", `attachment; filename="` + trl.ScriptName + `"`, text}, nil
}
