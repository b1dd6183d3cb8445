package lab

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"

	"toolgym/grpo"
	"toolgym/grpo/objective"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Settings are what the controls of the lab are set to. They stand in the query
// of a page, under the names given here; what is left out has its preset.
type Settings struct {
	Env    string  // env: name of an environment; the first one
	Level  string  // level: one of its levels; the first one
	Seed   uint64  // seed: of the task; 17
	Before string  // before: the agent in the left column (see Agents); base
	After  string  // after: the agent in the right column; trained
	Group  int     // group: completions of a group, 2 to 64; 8
	Format float64 // format, schema, completion, length: weights of the rubric; the server's
	Schema float64
	Done   float64
	Length float64
	Beta   float64 // beta: weight of the divergence in the loss; 0.05
	Clip   float64 // epsilon: how far the ratio may go from 1 before it is clipped; 0.20
	Bound  float64 // bound: divergence, in nats, above which the page warns; 0.12
}

// A Slider is a number among the settings, with the range of its control.
type Slider struct {
	Name, Label, Help string
	Min, Max, Step    float64
	Preset, Value     float64
}

// Signed tells a weight, which may take away, from a number that is never below
// zero.
func (s Slider) Signed() bool { return s.Min < 0 }

// Text is the value as the page writes it; lab.js writes it the same way.
func (s Slider) Text() string {
	if s.Signed() {
		return signed(s.Value)
	}
	return fmt.Sprintf("%.2f", s.Value)
}

// presets are the settings of a page without a query.
func presets(specs tools.Specs, rubric grpo.Rubric) Settings {
	loss := objective.Default()
	weight := func(name string) float64 { return rubric.Criteria[name].Weight }
	return Settings{Env: specs[0].Name, Level: specs[0].Levels[0], Seed: 17, Before: "base", After: "trained", Group: 8,
		Format: weight(grpo.CriterionFormat), Schema: weight(grpo.CriterionSchema), Done: weight(grpo.CriterionCompletion), Length: weight(grpo.CriterionLength),
		Beta: loss.Beta, Clip: loss.Epsilon, Bound: 0.12}
}

// ParseSettings reads a query. A name that is not known, one that stands twice,
// and a value out of its range are an [*tools.Error], code invalid.
func ParseSettings(query url.Values, specs tools.Specs, rubric grpo.Rubric) (Settings, error) {
	s := presets(specs, rubric)
	if name := query.Get("env"); name != "" {
		spec, err := specs.Lookup(name)
		if err != nil {
			return s, err
		}
		s.Env, s.Level = spec.Name, spec.Levels[0]
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(query[name]) > 1 {
			return s, refusal.New(name, "it once", "the setting stands more than once")
		}
		if err := s.set(name, query.Get(name)); err != nil {
			return s, err
		}
	}
	spec, err := specs.Lookup(s.Env)
	if err != nil {
		return s, err
	}
	if !slices.Contains(spec.Levels, s.Level) {
		return s, refusal.New("level", fmt.Sprintf("one of %q", spec.Levels), "%s has no level %.40q", s.Env, s.Level)
	}
	return s, nil
}

// set takes one value over.
func (s *Settings) set(name, text string) (err error) {
	switch name {
	case "env":
	case "level":
		s.Level = text
	case "before":
		s.Before = text
	case "after":
		s.After = text
	case "seed":
		if s.Seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return refusal.New(name, "a whole number from 0", "%.40q is no seed", text)
		}
	case "group":
		if s.Group, err = strconv.Atoi(text); err != nil || s.Group < 2 || s.Group > 64 {
			return refusal.New(name, "2 to 64 completions", "a group of %.40q", text)
		}
	default:
		return s.slide(name, text)
	}
	return nil
}

// slide takes a Slider's value over.
func (s *Settings) slide(name, text string) error {
	for control, value := range s.controls() {
		if control.Name != name {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || v < control.Min || v > control.Max {
			return refusal.New(name, fmt.Sprintf("a number from %g to %g", control.Min, control.Max), "%.40q is out of range", text)
		}
		*value = v
		return nil
	}
	return refusal.New(name, "one of those on the page", "there is no setting %.40q", name)
}

// controls yields the sliders, each with the field that it sets.
func (s *Settings) controls() func(func(Slider, *float64) bool) {
	preset := [...]float64{s.Format, s.Schema, s.Done, s.Length, s.Beta, s.Clip, s.Bound}
	return func(yield func(Slider, *float64) bool) {
		for i, c := range []struct {
			Slider
			field *float64
		}{
			{Slider{"format", "Format", "every turn is well formed", -5, 5, 0.05, 0, 0}, &s.Format},
			{Slider{"schema", "Schema", "share of valid calls", -5, 5, 0.05, 0, 0}, &s.Schema},
			{Slider{"completion", "Completion", "the task is solved", -5, 5, 0.05, 0, 0}, &s.Done},
			{Slider{"length", "Length", "for each turn", -1, 1, 0.01, 0, 0}, &s.Length},
			{Slider{"beta", "KL β", "weight of the divergence in the loss", 0, 1, 0.01, 0, 0}, &s.Beta},
			{Slider{"epsilon", "Clip ε", "the ratio is held within 1 ± ε", 0.01, 1, 0.01, 0, 0}, &s.Clip},
			{Slider{"bound", "KL bound", "where the page warns", 0, 2, 0.01, 0, 0}, &s.Bound},
		} {
			c.Value = preset[i]
			if !yield(c.Slider, c.field) {
				return
			}
		}
	}
}

// Sliders lists the numbers for a form.
func (s Settings) Sliders() (list []Slider) {
	for control := range s.controls() {
		list = append(list, control)
	}
	return list
}

// Rubric is the server's rubric with the weights that are set.
func (s Settings) Rubric(own grpo.Rubric) grpo.Rubric {
	criteria := maps.Clone(own.Criteria)
	for name, weight := range map[string]float64{grpo.CriterionFormat: s.Format, grpo.CriterionSchema: s.Schema,
		grpo.CriterionCompletion: s.Done, grpo.CriterionLength: s.Length} {
		criterion := criteria[name]
		criterion.Weight = weight
		criteria[name] = criterion
	}
	return grpo.Rubric{Criteria: criteria}
}

// Loss is the objective that is set.
func (s Settings) Loss() objective.Config {
	loss := objective.Default()
	loss.Beta, loss.Epsilon = s.Beta, s.Clip
	return loss
}

// Query writes the settings as a query that ParseSettings reads.
func (s Settings) Query() url.Values {
	query := url.Values{"env": {s.Env}, "level": {s.Level}, "seed": {strconv.FormatUint(s.Seed, 10)},
		"before": {s.Before}, "after": {s.After}, "group": {strconv.Itoa(s.Group)}}
	for control := range s.controls() {
		query.Set(control.Name, strconv.FormatFloat(control.Value, 'g', -1, 64))
	}
	return query
}
