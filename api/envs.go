package api

import (
	"context"
	"fmt"
	"math"
	"net/http"

	"toolgym/api/client"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

func (s *Server) envRoutes() {
	handle(s, route{id: "list-envs", method: http.MethodGet, path: "/v1/envs", tag: "envs",
		summary: "The environments, their levels and tools", answer: exampleEnvs()}, s.listEnvs)
	handle(s, route{id: "list-tools", method: http.MethodGet, path: "/v1/envs/{env}/tools", tag: "envs",
		summary: "The tools of a level", text: "Without a level, those of the default level. The order is that in which agents see them.",
		refusals: []int{http.StatusNotFound}, answer: client.Tools{Tools: exampleEnvs().Envs[0].Tools}}, s.listTools)
	handle(s, route{id: "list-tasks", work: heavy, method: http.MethodGet, path: "/v1/envs/{env}/tasks", tag: "envs",
		summary: "Tasks, by their seeds", text: "The tasks of n seeds from the given one on. Never the answer.",
		refusals: []int{http.StatusNotFound}, answer: client.Tasks{Tasks: []tools.Task{exampleTask()}}}, s.listTasks)
}

type levelQuery struct {
	Env   string `path:"env" doc:"The name of an environment."`
	Level string `query:"level" doc:"The environment's first level when absent."`
	Rules string `query:"rules" doc:"The environment's first rule set when absent."`
}

type tasksQuery struct {
	Env   string `path:"env" doc:"The name of an environment."`
	Level string `query:"level" doc:"The environment's first level when absent."`
	Rules string `query:"rules" doc:"The environment's first rule set when absent."`
	Seed  uint64 `query:"seed" format:"uint64" doc:"The first seed, from 0 to 18446744073709551615; 0 when absent."`
	N     uint64 `query:"n" minimum:"1" maximum:"1000" default:"1" doc:"How many."`
}

func (s *Server) listEnvs(context.Context, *struct{}) (*reply[client.Envs], error) {
	return answered(client.Describe(s.config.Specs)), nil
}

func (s *Server) listTools(_ context.Context, in *levelQuery) (*reply[client.Tools], error) {
	spec, err := s.config.Specs.Lookup(in.Env)
	if err != nil {
		return nil, err
	}
	task, err := spec.Task(in.Rules, in.Level, 0) // for its opinion of the names
	if err != nil {
		return nil, err
	}
	return answered(client.Tools{Tools: nonNil(spec.Tools(task.Rules, task.Level))}), nil
}

func (s *Server) listTasks(_ context.Context, in *tasksQuery) (*reply[client.Tasks], error) {
	spec, err := s.config.Specs.Lookup(in.Env)
	if err != nil {
		return nil, err
	}
	if left := math.MaxUint64 - in.Seed; in.N-1 > left {
		return nil, refusal.New("n", fmt.Sprintf("at most %d from this seed on", left+1), "the seeds end before that many tasks")
	}
	list := make([]tools.Task, in.N)
	for i := range list {
		if list[i], err = spec.Task(in.Rules, in.Level, in.Seed+uint64(i)); err != nil {
			return nil, err
		}
	}
	return answered(client.Tasks{Tasks: list}), nil
}

// nonNil keeps an empty set from being written as null.
func nonNil(set tools.Set) tools.Set {
	if set == nil {
		return tools.Set{}
	}
	return set
}
