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

// Seeds is how many runs a course has: it is learnt anew from as many seeds, so
// that the spread can be shown.
const Seeds = 5

// A Course lets an agent learn on the gridworld, and the same explorer without
// skills play the same tasks. Zero values take the defaults that are named.
type Course struct {
	Rules      string // default sound
	Level      string // default 0
	Episodes   int    // in which is learnt; default 60, under the documented rules 15
	Evaluation int    // fresh tasks on which it is measured afterwards; default 40, under the documented rules none: every task is the same
	Seed       uint64 // of the first run; the others take the next ones
	Explorer   string // default novelty; the documented agent has its own
	// Library is what every run begins with, nil for nothing. It is not changed.
	Library *Library
}

// Who played, and in which part of a course.
const (
	WithSkills    = "skills"
	WithoutSkills = "explorer"
	Learning      = "learning"
	Evaluating    = "evaluation"
)

// An Episode is one line of a course's record.
type Episode struct {
	Run       int     `json:"run"`   // from 0
	Agent     string  `json:"agent"` // WithSkills or WithoutSkills
	Part      string  `json:"part"`  // Learning or Evaluating
	Number    int     `json:"episode"`
	Task      string  `json:"task"`
	Reward    float64 `json:"reward"`
	Steps     int     `json:"steps"` // primitive ones
	Decisions int     `json:"decisions"`
	Optimal   int     `json:"optimal"`
	Success   bool    `json:"success"`
	Skills    int     `json:"skills"` // in the library afterwards
	Uses      int     `json:"uses"`   // of skills, in this episode
}

// WithDefaults fills in the zero values.
func (c Course) WithDefaults() Course {
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

// Validate reports what can not be learnt from, as an [*tools.Error], code
// Invalid. Zero is valid where it takes a default.
func (c Course) Validate() error {
	c = c.WithDefaults()
	if c.Episodes < 0 || c.Evaluation < 0 || c.Episodes > mostEpisodes || c.Evaluation > mostEpisodes {
		return invalid("episodes", fmt.Sprintf("%d episodes and %d to evaluate", c.Episodes, c.Evaluation), fmt.Sprintf("1 to %d", mostEpisodes))
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

// Total is the number of episodes that Run plays.
func (c Course) Total() int {
	c = c.WithDefaults()
	return 2 * Seeds * (c.Episodes + c.Evaluation)
}

// Run plays the course, run by run, and shows each episode to the observer. It
// returns the library of the first run, also when the context ends before the
// course does.
func (c Course) Run(ctx context.Context, observe func(Episode) error) (*Library, error) {
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
			p := player{course: c, run: run, library: l, observe: observe}
			if err := p.play(ctx); err != nil {
				return first, err
			}
		}
	}
	return first, nil
}

// A learner is an agent that can learn from what it played.
type learner interface {
	tools.Agent
	Tally() Tally
	Learn(tools.Trajectory) error
}

// A player is one run of a course, with or without skills.
type player struct {
	course  Course
	run     int
	library *Library
	observe func(Episode) error
}

// play learns, and is then measured on fresh tasks without learning further.
func (p player) play(ctx context.Context) error {
	agent, err := p.agent(p.library)
	if err != nil {
		return err
	}
	if err := p.part(ctx, agent, Learning, p.course.Episodes); err != nil {
		return err
	}
	if a, ok := agent.(*Agent); ok {
		agent = a.Frozen()
	}
	return p.part(ctx, agent, Evaluating, p.course.Evaluation)
}

func (p player) agent(library *Library) (learner, error) {
	if p.course.Rules == tools.Documented {
		return &documented{library: library}, nil
	}
	explorer, err := NewExplorer(p.course.Explorer, rand.NewPCG(p.course.Seed+uint64(p.run), 1))
	return NewAgent(library, explorer), err
}

// streams of task seeds, so that no task is evaluated that was learnt from.
func stream(part string) uint64 { return map[string]uint64{Learning: 2, Evaluating: 3}[part] }

func (p player) part(ctx context.Context, agent learner, part string, episodes int) error {
	draw := rand.New(rand.NewPCG(p.course.Seed+uint64(p.run), stream(part)))
	spec := gridworld.Spec()
	env := spec.New()
	for n := range episodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		task, err := spec.Task(p.course.Rules, p.course.Level, draw.Uint64())
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
		if err := p.observe(p.record(part, n+1, trajectory, agent.Tally())); err != nil {
			return err
		}
	}
	return nil
}

func (p player) record(part string, number int, t tools.Trajectory, tally Tally) Episode {
	e := Episode{Run: p.run, Agent: WithoutSkills, Part: part, Number: number, Task: t.Task.ID, Reward: t.Return, Steps: len(t.Steps),
		Decisions: tally.Decisions, Optimal: t.Task.Optimal, Success: t.Success, Uses: tally.Uses}
	if p.library != nil {
		e.Agent, e.Skills = WithSkills, p.library.Len()
	}
	return e
}

// mostEpisodes is the number of a course's last episode at the most.
const mostEpisodes = 100_000

// mostLine bounds a line of a record.
const mostLine = 1 << 20

// ReadEpisodes reads a course's record, a line an episode. A line that is none
// is an [*tools.Error], code Invalid, that names it.
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
			return nil, invalid(fmt.Sprintf("line %d", n), fmt.Sprintf("episode %d", e.Number), fmt.Sprintf("1 to %d", mostEpisodes))
		}
		episodes = append(episodes, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading a record of episodes: %w", err)
	}
	return episodes, nil
}

// A Summary is what a course has shown: medians over the episodes of all runs
// in which nothing was learnt any more, or over all where none were set apart.
type Summary struct {
	MedianDecisions     float64 `json:"median_decisions"`
	MedianSteps         float64 `json:"median_steps"`
	BaselineMedianSteps float64 `json:"baseline_median_steps"` // of the explorer without skills, whose steps are its decisions
	// OptimumRatio is the steps of all these episodes, of those that failed too,
	// over the steps that their tasks need.
	OptimumRatio float64 `json:"optimum_ratio"`
}

// Summarise computes the summary of a course's episodes.
func Summarise(episodes []Episode) Summary {
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

// quantile interpolates between the closest ranks (Hyndman and Fan, type 7);
// it is 0 of nothing.
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
