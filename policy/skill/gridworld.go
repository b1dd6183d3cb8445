package skill

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"toolgym/tools"
)

// A view is what an agent can know of a gridworld episode: the places that the
// prompt names, what it has looked at, and the last state that it was shown.
type view struct {
	size   int
	places map[string]Offset // key, door and goal, as far as they are known
	barred map[Offset]bool   // boxes and walls
	row    int               // of the wall, -1 where there is none
	column int

	agent           Offset
	key, open, goal bool
}

// shown is a state as the tools show it.
type shown struct {
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

// look reads the prompt and what is observed first.
func look(task tools.Task, observation json.RawMessage) (*view, error) {
	if task.Env != gridworldName || len(task.Prompt) == 0 {
		return nil, invalid("task", fmt.Sprintf("a task of %q", task.Env), "a task of "+gridworldName+" with its prompt")
	}
	text := task.Prompt[len(task.Prompt)-1].Content
	v := &view{places: map[string]Offset{}, barred: map[Offset]bool{}, row: -1, column: -1}
	if found := regexp.MustCompile(`on a (\d+)x\d+ grid`).FindStringSubmatch(text); found != nil {
		v.size = whole(found[1])
	}
	for _, found := range regexp.MustCompile(`(key|door|goal|box|wall) (?:is )?at \((\d+),(\d+)\)`).FindAllStringSubmatch(text, -1) {
		v.place(found[1], Offset{whole(found[2]), whole(found[3])})
	}
	if _, boxes, ok := strings.Cut(text, "Boxes at "); ok {
		boxes, _, _ = strings.Cut(boxes, ".")
		for _, found := range regexp.MustCompile(`\((\d+),(\d+)\)`).FindAllStringSubmatch(boxes, -1) {
			v.place("box", Offset{whole(found[1]), whole(found[2])})
		}
	}
	if found := regexp.MustCompile(`the row y=(\d+)`).FindStringSubmatch(text); found != nil {
		v.row = whole(found[1])
	}
	if found := regexp.MustCompile(`the column x=(\d+)`).FindStringSubmatch(text); found != nil {
		v.column = whole(found[1])
	}
	_, err := v.update(observation)
	return v, err
}

// whole reads digits; what is too large for an int is no place on a grid.
func whole(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return -1
	}
	return n
}

func (v *view) place(what string, at Offset) {
	switch what {
	case "box", "wall":
		v.barred[at] = true
	default:
		v.places[what] = at
	}
}

// update takes a tool's result in, and returns it. A result that shows no
// state, as that of a call that was refused, changes nothing.
func (v *view) update(content json.RawMessage) (shown, error) {
	var s shown
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

// next is the flag to be gained next, and where; known is false where the
// place is not.
func (v *view) next() (flag string, at Offset, known bool) {
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

// free tells whether a cell can be entered, as far as the view knows.
func (v *view) free(c Offset) bool {
	if c[0] < 0 || c[1] < 0 || v.size > 0 && (c[0] >= v.size || c[1] >= v.size) || v.barred[c] {
		return false
	}
	door, known := v.places["door"]
	return c[1] != v.row && c[0] != v.column || known && c == door
}

// clear tells whether the skill's way is free from a cell on.
func (v *view) clear(s *Skill, from Offset) bool {
	for _, o := range s.Path {
		if !v.free(from.plus(o)) {
			return false
		}
	}
	return true
}

func (v *view) state() State {
	return State{Env: gridworldName, Flags: v.flags()}
}

func (v *view) flags() map[string]bool {
	return map[string]bool{hasKey: v.key, doorOpen: v.open, atGoal: v.goal}
}

// standing is the place and the flags, as a key of maps.
type standing struct {
	at              Offset
	key, open, goal bool
}

func (v *view) standing() standing { return standing{v.agent, v.key, v.open, v.goal} }

// cell writes a cell as prompts do.
func cell(c Offset) string { return fmt.Sprintf("(%d,%d)", c[0], c[1]) }
