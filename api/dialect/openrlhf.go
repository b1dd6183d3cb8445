package dialect

import (
	"fmt"
	"strconv"
	"strings"

	"toolgym/grpo"
	"toolgym/internal/intake"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Asked is a question of OpenRLHF's as a request, and where in its groups the
// completions went.
type Asked struct {
	Request grpo.Request
	places  []place // of each completion, in the order of the question
}

type place struct{ group, member int }

// sameness is what makes two completions members of one group.
type sameness struct{ prompt, label string }

// OpenRLHF takes a question apart; the desk compiles the tools of labels. The
// error is the caller's, with a JSON pointer.
func OpenRLHF(q RewardQuery, desk *intake.Desk) (Asked, error) {
	n := len(q.Query)
	if len(q.Prompts) != n || len(q.Labels) != n {
		return Asked{}, refusal.New("", "as many of each", "%d queries, %d prompts and %d labels", n, len(q.Prompts), len(q.Labels))
	}
	var asked Asked
	labels := map[sameness]label{}
	for i := range n {
		response, ok := strings.CutPrefix(q.Query[i], q.Prompts[i])
		if !ok {
			return Asked{}, refusal.New(fmt.Sprintf("/query/%d", i), fmt.Sprintf("prompts[%d], and the response behind it", i), "the query does not begin with its prompt")
		}
		key := sameness{q.Prompts[i], q.Labels[i]}
		l, ok := labels[key]
		if !ok {
			var err error
			if l, err = readLabel(key.label, desk); err != nil {
				return Asked{}, refusal.Below(fmt.Sprintf("/labels/%d", i), err)
			}
			l.place = len(labels)
			labels[key] = l
			asked.Request.Groups = append(asked.Request.Groups, l.group)
		}
		asked.add(l, response)
	}
	return asked, nil
}

// add puts a response into the group of its label.
func (a *Asked) add(l label, response string) {
	group := &a.Request.Groups[l.place]
	group.ID = strconv.Itoa(l.place)
	a.places = append(a.places, place{l.place, len(group.Completions)})
	group.Completions = append(group.Completions, grpo.Completion{Text: &response, Family: l.family})
}

// Place moves the place of a mistake in the request to where it is in the
// question: a group is what a label says, a completion is a query.
func (a Asked) Place(err error) error {
	return refusal.Relocate(err, func(where string) string {
		parts := strings.SplitN(where, "/", 6)
		if len(parts) < 3 || parts[1] != "groups" {
			return where
		}
		for i, p := range a.places {
			switch {
			case strconv.Itoa(p.group) != parts[2]:
				continue
			case len(parts) < 5 || parts[3] != "completions":
				return fmt.Sprintf("/labels/%d", i)
			case strconv.Itoa(p.member) == parts[4]:
				return fmt.Sprintf("/query/%d", i)
			}
		}
		return where
	})
}

// Rewards puts the answer together. A null reward is an [*tools.Error] with
// code unavailable. A criterion that could not be worked out for one of the
// completions, and is not paid for, is left out of the logs.
func (a Asked) Rewards(response grpo.Response) (Rewards, error) {
	n := len(a.places)
	out := Rewards{Rewards: make([]float64, n), Scores: make([]float64, n), ExtraLogs: map[string][]float64{}}
	unknown := map[string]bool{}
	for i, p := range a.places {
		score := &response.Groups[p.group].Completions[p.member]
		if score.Reward == nil {
			return Rewards{}, &tools.Error{Code: tools.Unavailable, Where: fmt.Sprintf("/query/%d", i),
				Message: fmt.Sprintf("there is no reward: %s failure: %s", score.Failure.Kind, score.Failure.Reason)}
		}
		out.Rewards[i] = *score.Reward
		for criterion := range score.Criteria.All() {
			if criterion.Name == grpo.CriterionCompletion {
				out.Scores[i] = criterion.Value
			}
			unknown[criterion.Name] = unknown[criterion.Name] || criterion.Error != ""
			out.ExtraLogs[criterion.Name] = append(out.ExtraLogs[criterion.Name], criterion.Value)
		}
	}
	for name, is := range unknown {
		if is {
			delete(out.ExtraLogs, name)
		}
	}
	return out, nil
}
