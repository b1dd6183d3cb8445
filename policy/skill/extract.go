package skill

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolgym/tools"
)

// longestWay is the number of moves of the longest way that is kept for its
// own sake; longer ones are composed.
const longestWay = 4

// Extract finds the skills in an episode, whoever played it: the agent of this
// package, a language model, a person. On the gridworld each stretch up to a
// milestone (key, door, goal) gives, with its loops removed, the skill that
// reached the milestone, those that reach it from the last cells of the way, and
// the short ways within. On arithmetic a solved task gives one macro. Nothing
// found is no error; a trajectory of another environment is an [*tools.Error],
// code Invalid.
func Extract(trajectory tools.Trajectory) ([]Skill, error) {
	switch trajectory.Task.Env {
	case gridworldName:
		return extractWays(trajectory)
	case arithmeticName:
		return extractMacro(trajectory)
	}
	return nil, invalid("/task/env", fmt.Sprintf("no skills are made for %.80q", trajectory.Task.Env), "gridworld or arithmetic")
}

// A move is an action and what it led to.
type move struct {
	call     tools.Call
	from, to standing
}

func (m move) gains() string {
	switch {
	case m.to.key && !m.from.key:
		return hasKey
	case m.to.open && !m.from.open:
		return doorOpen
	case m.to.goal && !m.from.goal && m.to.open:
		return atGoal
	}
	return ""
}

func extractWays(trajectory tools.Trajectory) ([]Skill, error) {
	stretches, v, err := cut(trajectory)
	if err != nil {
		return nil, err
	}
	var found []Skill
	for _, moves := range stretches {
		moves = straighten(moves)
		found = append(found, reaching(v, moves)...)
		found = append(found, leading(v, moves)...)
	}
	return found, nil
}

// cut takes the episode apart: a stretch ends with a milestone, and before a
// step that is no plain action of the environment, such as a macro. The view is that
// of the episode's end.
func cut(trajectory tools.Trajectory) ([][]move, *view, error) {
	v, err := look(trajectory.Task, trajectory.Observation)
	if err != nil {
		return nil, nil, err
	}
	stretches := [][]move{nil}
	for i, step := range trajectory.Steps {
		if step.Call.Name == "" || step.Result.IsError && !strings.HasPrefix(step.Call.Name, Prefix) {
			continue // it changed nothing
		}
		m := move{call: tools.Call{Name: step.Call.Name, Arguments: json.RawMessage("{}")}, from: v.standing()}
		if _, err := v.update(step.Result.Content); err != nil {
			return nil, nil, fmt.Errorf("step %d: %w", i, err)
		}
		m.to = v.standing()
		last := len(stretches) - 1
		if strings.HasPrefix(step.Call.Name, Prefix) {
			stretches = append(stretches, nil)
			continue
		}
		stretches[last] = append(stretches[last], m)
		if m.gains() != "" {
			stretches = append(stretches, nil)
		}
	}
	return stretches, v, nil
}

// straighten removes loops: whatever lies between two moments at which all is
// the same.
func straighten(moves []move) []move {
	var way []move
	reached := map[standing]int{} // how many moves of the way lead there
	for i, m := range moves {
		if i == 0 {
			reached[m.from] = 0
		}
		if n, before := reached[m.to]; before {
			for _, undone := range way[n:] {
				delete(reached, undone.to)
			}
			way = way[:n]
			continue
		}
		way = append(way, m)
		reached[m.to] = len(way)
	}
	return way
}

// reaching makes the skills that end with the milestone at the end of a way.
func reaching(v *view, moves []move) []Skill {
	if len(moves) == 0 || moves[len(moves)-1].gains() == "" {
		return nil
	}
	var found []Skill
	for i := range moves {
		if i == 0 || len(moves)-i <= longestWay {
			found = append(found, made(v, moves[i:], moves[len(moves)-1].gains()))
		}
	}
	return found
}

// leading makes the skills that are short ways within a longer one.
func leading(v *view, moves []move) []Skill {
	var found []Skill
	for i := range moves {
		for j := i + 1; j <= min(i+longestWay, len(moves)); j++ {
			if moves[j-1].to.at == moves[j-1].from.at { // no move
				break
			}
			found = append(found, made(v, moves[i:j], ""))
		}
	}
	return found
}

// made makes a skill of moves. A way that gains nothing has no flags as
// preconditions: it was walked under some and works under all.
func made(v *view, moves []move, gains string) Skill {
	first := moves[0].from
	then := *v
	then.agent, then.key, then.open = first.at, first.key, first.open
	s := Skill{Env: gridworldName, Preconditions: map[string]bool{}, Gains: gains, TimesFound: 1}
	if gains != "" {
		s.Preconditions = map[string]bool{hasKey: first.key, doorOpen: first.open}
	}
	for _, m := range moves {
		s.Actions = append(s.Actions, m.call)
		s.Path = append(s.Path, m.to.at.minus(first.at))
	}
	s.Name = nameOf(gains, s.end())
	s.Embedding = features(&then, s.end(), gains != "")
	return s
}

// nameOf says what a skill does and how far away.
func nameOf(gains string, end Offset) string {
	name := map[string]string{"": "move", hasKey: "acquire_key", doorOpen: "open_door", atGoal: "reach_goal"}[gains]
	if end == (Offset{}) {
		return name + "_here"
	}
	for _, part := range []struct {
		way   string
		cells int
	}{{"right", end[0]}, {"left", -end[0]}, {"up", end[1]}, {"down", -end[1]}} {
		if part.cells > 0 {
			name += fmt.Sprintf("_%s_%d", part.way, part.cells)
		}
	}
	return name
}
