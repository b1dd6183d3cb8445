package skill

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"toolgym/tools"
	"toolgym/tools/gridworld"
)

// Seeds is the number of runs of an experiment, with consecutive seeds.
const Seeds = 5

// An Experiment trains an agent on the gridworld, and plays the same tasks with
// the same explorer without skills. Zero values mean the defaults.
type Experiment struct {
	Rules      string // default sound
	Level      string // default 0
	Episodes   int    // to learn from; default 60, under the documented rules 15
	Evaluation int    // new tasks to evaluate on; default 40, under the documented rules none, since all tasks are equal
	Seed       uint64 // of the first run; the others have the next ones
	Explorer   string // default novelty; not used under the documented rules
	// Library is copied at the start of every run; nil means empty.
	Library *Library
}

// The agents and the parts of an experiment.
const (
	WithSkills    = "skills"
	WithoutSkills = "explorer"
	Learning      = "learning"
	Evaluating    = "evaluation"
)

// An Episode is one record of an experiment.
type Episode struct {
	Run       int     `json:"run"`   // from 0
	Agent     string  `json:"agent"` // WithSkills or WithoutSkills
	Part      string  `json:"part"`  // Learning or Evaluating
	Number    int     `json:"episode"`
	Task      string  `json:"task"`
	Reward    float64 `json:"reward"`
	Steps     int     `json:"steps"` // calls of the environment
	Decisions int     `json:"decisions"`
	Optimal   int     `json:"optimal"`
	Success   bool    `json:"success"`
	Skills    int     `json:"skills"` // in the library after the episode
	Uses      int     `json:"uses"`   // of skills, in this episode
}

// WithDefaults sets the zero values.
func (c Experiment) WithDefaults() Experiment {
	if c.Rules == "" {
		c.Rules = tools.Sound
	}
	if c.Level == "" {
		c.Level = "0"
	}
	if c.Explorer == "" {
		c.Explorer = ExploreNovelty
	}
	if c.Episodes == 0 {
		c.Episodes = map[bool]int{false: 60, true: 15}[c.Rules == tools.Documented]
	}
	if c.Evaluation == 0 && c.Rules != tools.Documented {
		c.Evaluation = 40
	}
	return c
}

// Validate returns a [*tools.Error] with code invalid for an invalid
// experiment. Zero is valid for a field with a default.
func (c Experiment) Validate() error {
	c = c.WithDefaults()
	if c.Episodes < 0 || c.Evaluation < 0 || c.Episodes > mostEpisodes || c.Evaluation > mostEpisodes {
		return invalid("episodes", fmt.Sprintf("got %d episodes and %d to evaluate", c.Episodes, c.Evaluation), fmt.Sprintf("1 to %d", mostEpisodes))
	}
	if _, err := NewExplorer(c.Explorer, rand.NewPCG(0, 0)); err != nil {
		return err
	}
	if c.Library != nil && c.Library.rules != c.Rules {
		return c.Library.sameRules(NewLibrary(c.Rules))
	}
	_, err := gridworld.Spec().Task(c.Rules, c.Level, c.Seed)
	return err
}

// Total returns the number of episodes that Run plays.
func (c Experiment) Total() int {
	c = c.WithDefaults()
	return 2 * Seeds * (c.Episodes + c.Evaluation)
}

// Run plays the runs in order and passes each episode to observe. It returns
// the library of the first run, also if the context ends earlier.
func (c Experiment) Run(ctx context.Context, observe func(Episode) error) (*Library, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.WithDefaults()
	var first *Library
	for run := range Seeds {
		library := NewLibrary(c.Rules)
		if c.Library != nil {
			library = c.Library.Clone()
		}
		if run == 0 {
			first = library
		}
		for _, l := range []*Library{library, nil} {
			p := experimentRun{experiment: c, run: run, library: l, observe: observe}
			if err := p.play(ctx); err != nil {
				return first, err
			}
		}
	}
	return first, nil
}

// A learner is an agent that can learn from an episode.
type learner interface {
	tools.Agent
	Counts() EpisodeCounts
	Learn(tools.Trajectory) error
}

// An experimentRun is one run of an experiment, with or without skills.
type experimentRun struct {
	experiment Experiment
	run        int
	library    *Library
	observe    func(Episode) error
}

// play trains the agent, then evaluates it on new tasks without learning.
func (p experimentRun) play(ctx context.Context) error {
	agent, err := p.agent(p.library)
	if err != nil {
		return err
	}
	if err := p.part(ctx, agent, Learning, p.experiment.Episodes); err != nil {
		return err
	}
	if a, ok := agent.(*Agent); ok {
		agent = a.Frozen()
	}
	return p.part(ctx, agent, Evaluating, p.experiment.Evaluation)
}

func (p experimentRun) agent(library *Library) (learner, error) {
	if p.experiment.Rules == tools.Documented {
		return &documented{library: library}, nil
	}
	explorer, err := NewExplorer(p.experiment.Explorer, rand.NewPCG(p.experiment.Seed+uint64(p.run), 1))
	return NewAgent(library, explorer), err
}

// stream returns the stream of task seeds, so that no task is used for both
// learning and evaluation.
func stream(part string) uint64 { return map[string]uint64{Learning: 2, Evaluating: 3}[part] }

func (p experimentRun) part(ctx context.Context, agent learner, part string, episodes int) error {
	draw := rand.New(rand.NewPCG(p.experiment.Seed+uint64(p.run), stream(part)))
	spec := gridworld.Spec()
	env := spec.New()
	for n := range episodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		task, err := spec.Task(p.experiment.Rules, p.experiment.Level, draw.Uint64())
		if err != nil {
			return err
		}
		trajectory, err := tools.Rollout(ctx, env, task, agent)
		if err != nil {
			return err
		}
		if part == Learning {
			if err := agent.Learn(trajectory); err != nil {
				return err
			}
		}
		if err := p.observe(p.record(part, n+1, trajectory, agent.Counts())); err != nil {
			return err
		}
	}
	return nil
}

func (p experimentRun) record(part string, number int, t tools.Trajectory, counts EpisodeCounts) Episode {
	e := Episode{Run: p.run, Agent: WithoutSkills, Part: part, Number: number, Task: t.Task.ID, Reward: t.Return, Steps: len(t.Steps),
		Decisions: counts.Decisions, Optimal: t.Task.Optimal, Success: t.Success, Uses: counts.Uses}
	if p.library != nil {
		e.Agent, e.Skills = WithSkills, p.library.Len()
	}
	return e
}

// mostEpisodes is the maximum number of episodes.
const mostEpisodes = 100_000

// mostLine is the maximum length of a line.
const mostLine = 1 << 20

// ReadEpisodes reads the record of an experiment, one line per episode. An
// invalid line is a [*tools.Error] with code invalid and its number.
func ReadEpisodes(r io.Reader) ([]Episode, error) {
	var episodes []Episode
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, mostLine)
	for n := 1; lines.Scan(); n++ {
		var e Episode
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&e); err != nil {
			return nil, invalid(fmt.Sprintf("line %d", n), err.Error(), "an episode as toolgym skills learn writes it")
		}
		if e.Number < 1 || e.Number > mostEpisodes {
			return nil, invalid(fmt.Sprintf("line %d", n), fmt.Sprintf("got episode %d", e.Number), fmt.Sprintf("1 to %d", mostEpisodes))
		}
		episodes = append(episodes, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading a record of episodes: %w", err)
	}
	return episodes, nil
}

// A Summary has medians over the evaluation episodes of all runs, or over the
// learning episodes without any.
type Summary struct {
	MedianDecisions     float64 `json:"median_decisions"`
	MedianSteps         float64 `json:"median_steps"`
	BaselineMedianSteps float64 `json:"baseline_median_steps"` // of the explorer without skills
	// OptimumRatio is the number of steps of all these episodes, including failed
	// ones, divided by the number that their tasks need.
	OptimumRatio float64 `json:"optimum_ratio"`
}

// Summarize returns the summary of an experiment's episodes.
func Summarize(episodes []Episode) Summary {
	part := Learning
	if slices.ContainsFunc(episodes, func(e Episode) bool { return e.Part == Evaluating }) {
		part = Evaluating
	}
	var decisions, steps, baseline []float64
	taken, optimal := 0, 0
	for _, e := range episodes {
		switch {
		case e.Part != part:
		case e.Agent == WithoutSkills:
			baseline = append(baseline, float64(e.Steps))
		default:
			decisions, steps = append(decisions, float64(e.Decisions)), append(steps, float64(e.Steps))
			taken, optimal = taken+e.Steps, optimal+e.Optimal
		}
	}
	s := Summary{MedianDecisions: quantile(decisions, 0.5), MedianSteps: quantile(steps, 0.5), BaselineMedianSteps: quantile(baseline, 0.5)}
	if optimal > 0 {
		s.OptimumRatio = float64(taken) / float64(optimal)
	}
	return s
}

// quantile interpolates between the closest ranks (Hyndman and Fan, type 7); it
// is 0 without values.
func quantile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := p * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
