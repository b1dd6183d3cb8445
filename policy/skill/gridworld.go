package skill

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"toolgym/tools"
)

// A gridView is what an agent can know about a gridworld episode: the places in
// the prompt, what it has looked at, and the last state.
type gridView struct {
	size    int
	places  map[string]Offset // key, door and goal, if known
	blocked map[Offset]bool   // boxes and walls
	row     int               // of the wall, -1 without one
	column  int

	agent           Offset
	key, open, goal bool
}

// gridResult is the state in the result of a tool.
type gridResult struct {
	Agent  *Offset `json:"agent"`
	Key    bool    `json:"has_key"`
	Open   bool    `json:"door_open"`
	AtGoal bool    `json:"at_goal"`
	Note   string  `json:"note"`
	Sight  *struct {
		Things []struct {
			Cell Offset `json:"cell"`
			Is   string `json:"is"`
		} `json:"things"`
	} `json:"sight"`
}

// newGridView reads the prompt and the first observation.
func newGridView(task tools.Task, observation json.RawMessage) (*gridView, error) {
	if task.Env != gridworldName || len(task.Prompt) == 0 {
		return nil, invalid("task", fmt.Sprintf("got a task of %q", task.Env), "a task of "+gridworldName+" with its prompt")
	}
	text := task.Prompt[len(task.Prompt)-1].Content
	v := &gridView{places: map[string]Offset{}, blocked: map[Offset]bool{}, row: -1, column: -1}
	if found := regexp.MustCompile(`on a (\d+)x\d+ grid`).FindStringSubmatch(text); found != nil {
		v.size = parseCoordinate(found[1])
	}
	for _, found := range regexp.MustCompile(`(key|door|goal|box|wall) (?:is )?at \((\d+),(\d+)\)`).FindAllStringSubmatch(text, -1) {
		v.place(found[1], Offset{parseCoordinate(found[2]), parseCoordinate(found[3])})
	}
	if _, boxes, ok := strings.Cut(text, "Boxes at "); ok {
		boxes, _, _ = strings.Cut(boxes, ".")
		for _, found := range regexp.MustCompile(`\((\d+),(\d+)\)`).FindAllStringSubmatch(boxes, -1) {
			v.place("box", Offset{parseCoordinate(found[1]), parseCoordinate(found[2])})
		}
	}
	if found := regexp.MustCompile(`the row y=(\d+)`).FindStringSubmatch(text); found != nil {
		v.row = parseCoordinate(found[1])
	}
	if found := regexp.MustCompile(`the column x=(\d+)`).FindStringSubmatch(text); found != nil {
		v.column = parseCoordinate(found[1])
	}
	_, err := v.update(observation)
	return v, err
}

// parseCoordinate parses digits; -1 if they overflow an int.
func parseCoordinate(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

func (v *gridView) place(what string, at Offset) {
	switch what {
	case "box", "wall":
		v.blocked[at] = true
	default:
		v.places[what] = at
	}
}

// update reads the result of a tool. A result without a state, as of an invalid
// call, changes nothing.
func (v *gridView) update(content json.RawMessage) (gridResult, error) {
	var s gridResult
	if err := json.Unmarshal(content, &s); err != nil {
		return s, fmt.Errorf("reading a state of the gridworld: %w", err)
	}
	if s.Agent == nil {
		return s, nil
	}
	v.agent, v.key, v.open, v.goal = *s.Agent, s.Key, s.Open, s.AtGoal
	if s.Sight != nil {
		for _, thing := range s.Sight.Things {
			v.place(thing.Is, thing.Cell)
		}
	}
	return s, nil
}

// next returns the next flag to gain and its place; known is false if the place
// is unknown.
func (v *gridView) next() (flag string, at Offset, known bool) {
	switch {
	case !v.key:
		flag = hasKey
	case !v.open:
		flag = doorOpen
	default:
		flag = atGoal
	}
	at, known = v.places[placeOf(flag)]
	return flag, at, known
}

// free reports whether a cell can be entered, as far as the view knows.
func (v *gridView) free(c Offset) bool {
	if c[0] < 0 || c[1] < 0 || v.size > 0 && (c[0] >= v.size || c[1] >= v.size) || v.blocked[c] {
		return false
	}
	door, known := v.places["door"]
	return c[1] != v.row && c[0] != v.column || known && c == door
}

// clear reports whether the path of a skill is free from a cell on.
func (v *gridView) clear(s *Skill, from Offset) bool {
	for _, o := range s.Path {
		if !v.free(from.plus(o)) {
			return false
		}
	}
	return true
}

func (v *gridView) state() State {
	return State{Env: gridworldName, Flags: v.flags()}
}

func (v *gridView) flags() map[string]bool {
	return map[string]bool{hasKey: v.key, doorOpen: v.open, atGoal: v.goal}
}

// gridKey is the place and the flags, as a map key.
type gridKey struct {
	at              Offset
	key, open, goal bool
}

func (v *gridView) gridKey() gridKey { return gridKey{v.agent, v.key, v.open, v.goal} }

// cell formats a cell as prompts do.
func cell(c Offset) string { return fmt.Sprintf("(%d,%d)", c[0], c[1]) }
