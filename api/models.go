package api

import (
	"context"
	"net/http"
	"time"

	"toolgym/grpo/parse"
	"toolgym/grpo/rollout"
	"toolgym/internal/modelserver"
)

// A servedModel is a model of an Ollama server, and how it seems to write calls.
type servedModel struct {
	rollout.Model
	Family parse.Family `json:"family_hint"`
}

// modelList is the answer of GET /v1/models.
type modelList struct {
	Models      []servedModel `json:"models"`
	Unreachable []string      `json:"unreachable" doc:"The servers that did not answer."`
}

func (s *Server) modelRoutes() {
	handle(s, route{id: "list-models", method: http.MethodGet, path: "/v1/models", tag: "evaluations",
		summary: "The models of the Ollama servers", text: "Those of the servers that this one was started with: what they were made for, and how they seem to write calls.",
		answer: modelList{Models: []servedModel{{rollout.Model{Name: "llama3.2:3b", Digest: "sha256:a80c4f17acd5", Server: "http://127.0.0.1:11434", Version: "0.17.4",
			Capabilities: []string{"completion", "tools"}, Tools: true, Context: 131072, Size: 2019393189}, parse.Llama3JSON}}, Unreachable: []string{}}}, s.listModels)
}

func (s *Server) listModels(ctx context.Context, _ *struct{}) (*reply[modelList], error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list := modelList{Models: []servedModel{}, Unreachable: []string{}}
	for _, address := range s.config.Ollama {
		models, err := rollout.Config{URL: address}.Describe(ctx)
		if err != nil {
			s.config.Logger.Warn("an Ollama server does not answer", "server", modelserver.Display(address), "error", err)
			list.Unreachable = append(list.Unreachable, modelserver.Display(address))
			continue
		}
		for _, m := range models {
			list.Models = append(list.Models, servedModel{m, rollout.FamilyHint(m.Template)})
		}
	}
	return answered(list), nil
}
