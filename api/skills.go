package api

import (
	"context"
	"net/http"

	"toolgym/policy/skill"
	"toolgym/tools"
)

func (s *Server) skillRoutes() {
	handle(s, route{id: "list-skills", method: http.MethodGet, path: "/v1/skills", tag: "skills",
		summary: "The skill library",
		text: "What was learnt, in the order in which it was found, and how it fared. The skills that are offered stand in the tool lists of their environment, as skill_NAME; " +
			"a call of one whose preconditions do not hold is an error result that says which. Without a library the list is empty.",
		answer: exampleSkills()}, s.listSkills)
}

// skillList is what GET /v1/skills answers.
type skillList struct {
	Skills []skill.Skill `json:"skills"`
	Stats  skill.Stats   `json:"stats"`
}

func (s *Server) listSkills(context.Context, *struct{}) (*reply[skillList], error) {
	if s.config.Skills == nil {
		return answered(skillList{Skills: []skill.Skill{}}), nil
	}
	return answered(skillList{s.config.Skills.Skills(), s.config.Skills.Stats()}), nil
}

// schooled offers the skills of the library in the environments.
func schooled(specs tools.Specs, library *skill.Library) tools.Specs {
	if library == nil {
		return specs
	}
	list := make(tools.Specs, len(specs))
	for i, spec := range specs {
		list[i] = skill.AddTools(spec, library)
	}
	return list
}

func exampleSkills() skillList {
	return skillList{
		Skills: []skill.Skill{{Name: "acquire_key_up_1", Env: "gridworld", Preconditions: map[string]bool{"has_key": false, "door_open": false}, Gains: "has_key",
			Actions:   []tools.Call{{Name: "move_up", Arguments: []byte("{}")}, {Name: "pickup_key", Arguments: []byte("{}")}},
			Path:      []skill.Offset{{0, 1}, {0, 1}},
			Embedding: []float64{1, 0, 0, 0, 0, 0, 0, 0}, SuccessCount: 3, TimesUsed: 3, TimesFound: 8}},
		Stats: skill.Stats{Skills: 1, Uses: 3, MeanSuccessRate: 1},
	}
}
