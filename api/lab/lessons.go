package lab

import (
	"html/template"
	"net/url"
)

// A lesson is an explanation with something to try: settings of this page, and
// what to look at then.
type lesson struct {
	Title string
	Text  []string
	Tries []try
}

type try struct {
	Name  string
	Query template.URL
	Look  string
}

// lessons are the explanations. What they promise is tested: see
// TestLessonsKeepTheirPromises.
func lessons() []lesson {
	return []lesson{
		{"Why reinforcement learning for tool calling?", []string{
			"Showing a model good calls teaches it their form. Whether a call was the right one shows later, when the task is solved or not, and often several sequences of calls solve it.",
			"So the model tries, the environment carries the calls out, and the end is paid. What led to a better end becomes likelier; no one has to write down the one right way.",
		}, []try{{"Untrained beside trained", query("env", "arithmetic", "level", "1", "before", agentBase, "after", agentTrained),
			"After solves what Before does not: C pays +3.0 on the right alone, and the same calls have become many times likelier."}}},
		{"Reward shaping, and how it is hacked", []string{
			"A reward for the end alone comes rarely at first. Paying for form, for valid arguments and for brevity gives earlier steps something to follow.",
			"But a policy does what is paid, and not what was meant. Every part that can be had without solving the task will be had without solving it.",
		}, []try{
			{"Pay for every turn", query("env", "gridworld", "level", "0", "before", agentRandom, "after", agentTrained, "length", "0.5"),
				"Length is now +0.5. Random calls wander to the limit and earn more than the policy that fetches the key and leaves."},
			{"Stop paying for the end", query("env", "arithmetic", "level", "1", "before", agentRandom, "after", agentIdle, "completion", "0", "schema", "0", "length", "-0.5"),
				"What is left is form and brevity: to do nothing at all earns more than to try."},
		}},
		{"What does group-relative mean?", []string{
			"How good is a reward of 2.4? GRPO asks no critic. It lets the policy try one task several times, and compares each try with the mean of its group, in standard deviations: the advantage.",
			"Tries above the mean become likelier, those below less likely. Where all earn the same there is nothing to compare, and the group teaches nothing.",
		}, []try{
			{"A group with a spread", query("env", "arithmetic", "level", "0", "before", agentBase, "after", agentTrained, "group", "16"),
				"In the group below, the advantages add up to zero, and the best try has the largest."},
			{"A group without one", query("env", "arithmetic", "level", "0", "before", agentIdle, "after", agentTrained),
				"Who does nothing earns the same each time: no spread, and every advantage is 0."},
		}},
	}
}

func query(pairs ...string) template.URL {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return template.URL(values.Encode())
}
