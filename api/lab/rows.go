package lab

import (
	"fmt"
	"strings"

	"toolgym/grpo"
	"toolgym/tools"
)

// mostWords of a plan stand in the table.
const mostWords = 12

// A tried is a member of the group as the table shows it.
type tried struct {
	Number           int
	Plan, Parts      string
	Reward           string
	Success          bool
	Advantage, Ratio string
	Clipped          string
}

func (s scene) rows(members []member) []tried {
	list := make([]tried, len(members))
	for i, m := range members {
		list[i] = tried{Number: i + 1, Plan: s.planText(m), Parts: sharesOf(m.Score), Reward: "unknown", Success: m.Success,
			Advantage: balance(m.Advantage), Ratio: reach(m.Ratios), Clipped: clippedText(m)}
		if m.Reward != nil {
			list[i].Reward = measured(m.Reward)
		}
	}
	return list
}

// planText is what a member did: a policy's tokens, or else what was called how often.
func (s scene) planText(m member) string {
	if m.plan == nil {
		return counted(m.Calls)
	}
	words := tools.TokenTexts(s.spec.Enumerate(), m.plan)
	if more := len(words) - mostWords; more > 0 {
		return fmt.Sprintf("%s … and %d more", strings.Join(words[:mostWords], " "), more)
	}
	return strings.Join(words, " ")
}

// counted names the tools that were called, in the order of their first calls,
// and what was answered by one.
func counted(calls []grpo.Call) string {
	var names []string
	times, answer := map[string]int{}, ""
	for i := range calls {
		name := calls[i].Name
		if !calls[i].Counts() {
			continue
		}
		if name == answering {
			answer = string(calls[i].Arguments)
		}
		if times[name]++; times[name] == 1 {
			names = append(names, name)
		}
	}
	for i, name := range names {
		if n := times[name]; n > 1 {
			names[i] = fmt.Sprintf("%s ×%d", clipped(name, 60), n)
		} else if name == answering {
			names[i] += " " + clipped(answer, 60)
		}
	}
	if len(names) == 0 {
		return "no call"
	}
	return strings.Join(names, ", ")
}

func clippedText(m member) string {
	switch {
	case m.Ratios == nil:
		return ""
	case m.Clipped == 0:
		return "not clipped"
	}
	return fmt.Sprintf("clipped, %d of %d tokens", m.Clipped, len(m.Ratios))
}

// balance writes an advantage, which has a sign unless it is none.
func balance(v float64) string {
	text := strings.Replace(fmt.Sprintf("%+.3f", v), "-", "−", 1)
	if text == "+0.000" || text == "−0.000" {
		return "0.000"
	}
	return text
}
