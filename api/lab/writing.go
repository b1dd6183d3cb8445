package lab

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"toolgym/grpo"
)

// trimmed writes a number with one to three decimals, and a minus as printers
// set it.
func trimmed(v float64, sign bool) string {
	text := strconv.FormatFloat(v, 'f', 3, 64)
	for strings.HasSuffix(text, "0") && !strings.HasSuffix(text, ".0") {
		text = text[:len(text)-1]
	}
	text = strings.Replace(text, "-", "−", 1)
	switch {
	case text == "−0.0":
		text = "0.0"
	case sign && v > 0 && text != "0.0":
		text = "+" + text
	}
	if sign && text == "0.0" {
		return "+0.0"
	}
	return text
}

// sharesOf writes what each criterion paid, as the published lab does:
// F:+1.0 | S:+1.5 | C:+3.0 | L:−0.15, and behind it what a rubric of the
// server's own pays besides.
func sharesOf(score grpo.Score) string {
	letters := map[string]string{grpo.CriterionFormat: "F", grpo.CriterionSchema: "S", grpo.CriterionCompletion: "C", grpo.CriterionLength: "L"}
	var parts []string
	for c := range score.Criteria.All() {
		name, published := letters[c.Name]
		switch {
		case published && c.Error != "":
			parts = append(parts, name+":?")
		case published:
			parts = append(parts, name+":"+trimmed(c.Reward, true))
		case c.Weight != 0 && c.Error != "":
			parts = append(parts, c.Name+":?")
		case c.Weight != 0:
			parts = append(parts, c.Name+":"+trimmed(c.Reward, true))
		}
	}
	return strings.Join(parts, " | ")
}

// measured writes a number that may not be known.
func measured(v *float64) string {
	if v == nil {
		return "unknown"
	}
	if a := math.Abs(*v); a >= 1e6 || a > 0 && a < 5e-4 {
		return strings.Replace(fmt.Sprintf("%.2g", *v), "-", "−", 1)
	}
	return strings.Replace(fmt.Sprintf("%.3f", *v), "-", "−", 1)
}

// prob is the probability of a log-probability.
func prob(logp float64) float64 { return math.Exp(logp) }

// span writes the smallest and the largest of some ratios.
func reach(ratios []float64) string {
	if len(ratios) == 0 {
		return "not known"
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range ratios {
		low, high = min(low, r), max(high, r)
	}
	return measured(&low) + " … " + measured(&high)
}
