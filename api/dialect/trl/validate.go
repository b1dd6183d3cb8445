package trl

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"toolgym/grpo/objective"
	"toolgym/internal/refusal"
)

// longest is how many bytes a name may have.
const longest = 1000

// Validate says which setting can not be used, and what would be right there;
// places are JSON pointers.
func (s Settings) Validate() error {
	for _, check := range []func() error{s.checkServer, s.checkTexts, s.checkChoices, s.checkCounts, s.checkNumbers} {
		if err := check(); err != nil {
			return err
		}
	}
	if err := s.Rubric.Validate(); err != nil {
		return refusal.Below("/rubric", err)
	}
	if s.LoRA == nil {
		return nil
	}
	return refusal.Below("/lora", s.LoRA.validate())
}

// checkServer refuses what is no address, and one with a secret in it: scripts
// are passed on.
func (s Settings) checkServer() error {
	const want = "something like http://127.0.0.1:8080"
	u, err := url.Parse(s.Server)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "":
		return refusal.New("/server", want, "%.80q is no server's URL", s.Server)
	case u.User != nil:
		return refusal.New("/server", want+", and the token in the variable TOOLGYM_TOKEN", "the URL holds a name or a password")
	}
	return nil
}

func (s Settings) checkTexts() error {
	texts := []struct{ where, value string }{{"/server", s.Server}, {"/env", s.Env}, {"/model", s.Model}, {"/output_dir", s.Output}}
	for _, t := range texts {
		if t.value == "" {
			return refusal.New(t.where, "a name", "nothing is given")
		}
	}
	for _, t := range append(texts, struct{ where, value string }{"/level", s.Level}, struct{ where, value string }{"/rules", s.Rules}) {
		if err := checkText(t.where, t.value); err != nil {
			return err
		}
	}
	return nil
}

func checkText(where, value string) error {
	if len(value) > longest || !utf8.ValidString(value) || strings.ContainsRune(value, 0) {
		return refusal.New(where, fmt.Sprintf("at most %d bytes of UTF-8 without NUL", longest), "%.40q is too long, or no text", value)
	}
	return nil
}

func (s Settings) checkChoices() error {
	for _, c := range []struct {
		where, value string
		known        []string
	}{
		{"/normalization", string(s.Normalization), []string{string(objective.NormalizeGroup), string(objective.NormalizeBatch), string(objective.NormalizeNone)}},
		{"/loss_type", s.Loss, []string{objective.LossGRPO, objective.LossBNPO, objective.LossDrGRPO, objective.LossDAPO}},
		{"/importance_sampling_level", s.Importance, []string{objective.LevelToken, objective.LevelSequence}},
	} {
		if !slices.Contains(c.known, c.value) {
			return refusal.New(c.where, "one of "+strings.Join(c.known, ", "), "unknown value %.40q", c.value)
		}
	}
	return s.Family.Validate()
}

// A bound is what a number may be.
type bound struct {
	where      string
	value      int
	least, top int
}

func (b bound) check() error {
	if b.value < b.least || b.value > b.top {
		return refusal.New(b.where, fmt.Sprintf("%d to %d", b.least, b.top), "%d", b.value)
	}
	return nil
}

func (s Settings) checkCounts() error {
	for _, b := range []bound{
		{"/tasks", s.Tasks, 1, 1_000_000}, {"/num_generations", s.Generations, 2, 1024}, {"/max_completion_length", s.Longest, 1, 1 << 20},
		{"/gradient_accumulation_steps", s.Accumulate, 1, 1 << 16}, {"/max_steps", s.Steps, 1, 1_000_000_000},
		{"/timeout_s", s.Timeout, 1, 3600}, {"/attempts", s.Attempts, 1, 100},
	} {
		if err := b.check(); err != nil {
			return err
		}
	}
	if left := math.MaxUint64 - s.Seed; uint64(s.Tasks-1) > left {
		return refusal.New("/seed", fmt.Sprintf("at most %d", uint64(math.MaxUint64)-uint64(s.Tasks-1)), "the seeds end before that many tasks")
	}
	return nil
}

func (s Settings) checkNumbers() error {
	high := s.Epsilon
	if s.EpsilonHigh != nil {
		high = *s.EpsilonHigh
	}
	for _, n := range []struct {
		where string
		value float64
		zero  bool // may be 0
	}{
		{"/beta", s.Beta, true}, {"/epsilon", s.Epsilon, true}, {"/epsilon_high", high, true},
		{"/temperature", s.Temperature, false}, {"/learning_rate", s.LearningRate, false},
	} {
		switch {
		case !(n.value >= 0) || math.IsInf(n.value, 0):
			return refusal.New(n.where, "a finite number, at least 0", "%v", n.value)
		case n.value == 0 && !n.zero:
			return refusal.New(n.where, "a number above 0", "0")
		}
	}
	return nil
}

func (l LoRA) validate() error {
	for _, b := range []bound{{"/r", l.R, 1, 1 << 16}, {"/alpha", l.Alpha, 1, 1 << 16}, {"/target_modules", len(l.Targets), 0, 1000}} {
		if err := b.check(); err != nil {
			return err
		}
	}
	if !(l.Dropout >= 0 && l.Dropout < 1) {
		return refusal.New("/dropout", "at least 0, and below 1", "%v", l.Dropout)
	}
	for i, target := range l.Targets {
		where := fmt.Sprintf("/target_modules/%d", i)
		if target == "" {
			return refusal.New(where, "the name of a layer", "nothing is given")
		}
		if err := checkText(where, target); err != nil {
			return err
		}
	}
	return nil
}
