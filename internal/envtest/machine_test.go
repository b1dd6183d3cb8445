package envtest

import (
	"strconv"

	"toolgym/tools"
)

// machine is the counter for the policy: 11 increments, 14 submits.
type machine struct {
	flaw        string
	count, goal int
	steps       int
	done, right bool
	starts      int
}

var _ tools.Enumerator = (*machine)(nil)

func (m *machine) Start(rules, level string, seed uint64) error {
	if m.flaw != "enumerates anything" && (known(rules, level) != nil || level != "count") {
		return &tools.Error{Code: tools.Invalid, Message: "no such rules or level"}
	}
	*m = machine{flaw: m.flaw, goal: goalOf(seed), starts: m.starts + 1}
	return nil
}

func (m *machine) Vocabulary() tools.Vocabulary {
	v := tools.Vocabulary{Size: 18, Start: 10, End: 17, FirstTool: 11, LastTool: 16}
	if m.flaw == "vocabulary out of range" {
		v.LastTool = 18
	}
	return v
}

func (m *machine) Token(token int) string {
	if m.flaw == "two tokens of one text" && token == 12 {
		token = 11
	}
	return strconv.Itoa(token)
}

func (m *machine) Context(buf []int) []int {
	switch m.flaw {
	case "context of other tokens":
		return append(buf, 18)
	case "context overwrites":
		return append(buf[:0], m.goal)
	}
	return append(buf, m.goal)
}

func (m *machine) Limit() int { return 12 }

func (m *machine) Act(token int) (float64, bool) {
	if m.done && m.flaw != "acts behind the end" {
		return 0, true
	}
	m.steps++
	switch token {
	case 11:
		m.count++
	case 14:
		m.right, m.done = m.count == m.goal || m.flaw == "another machine", true
	case 17:
		m.done = true
	}
	m.done = m.done || m.steps == m.Limit() && m.flaw != "machine without limit"
	if m.flaw == "machine with a mood" {
		return float64(m.starts), m.done
	}
	return 1, m.done
}

func (m *machine) Success() bool { return m.right }

func (m *machine) Accidental() bool { return false }

func (m *machine) Calls(_ tools.Task, plan []int) ([]tools.Call, error) {
	var calls []tools.Call
	for i, token := range plan {
		switch {
		case token < 0 || token >= m.Vocabulary().Size:
			return nil, &tools.Error{Code: tools.Invalid, Message: "no such token"}
		case token == 17 || i == m.Limit():
			return calls, nil
		case token == 11:
			calls = append(calls, tools.Call{Name: "increment"})
		case token == 14:
			return append(calls, tools.Call{Name: "submit"}), nil
		}
	}
	return calls, nil
}
