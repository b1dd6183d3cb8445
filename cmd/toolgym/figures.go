package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"toolgym/grpo"
)

// metricRows lists the metrics that are known: the batch's first, then those of
// the criteria that the rubric pays for.
func metricRows(metrics grpo.Metrics, rubric grpo.Rubric) [][]string {
	first := []string{
		grpo.MetricReward, grpo.MetricRewardStd, grpo.MetricZeroStd, grpo.MetricLoss, grpo.MetricKL,
		grpo.MetricClipLow, grpo.MetricClipHigh, grpo.MetricClipRegion, grpo.MetricMeanLength, grpo.MetricClippedRatio,
		grpo.MetricCallFrequency, grpo.MetricFailureFrequency,
	}
	var rest []string
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		if !slices.Contains(first, name) && !unpaid(name, rubric) {
			rest = append(rest, name)
		}
	}
	var rows [][]string
	for _, name := range append(first, rest...) {
		if value := metrics[name]; value != nil {
			rows = append(rows, []string{name, strconv.FormatFloat(*value, 'g', 6, 64)})
		}
	}
	return rows
}

// unpaid reports a metric of a criterion that is reported and not paid for;
// --json has all of them.
func unpaid(name string, rubric grpo.Rubric) bool {
	criterion, ok := strings.CutPrefix(name, "rewards/")
	if !ok {
		return false
	}
	criterion, _, _ = strings.Cut(criterion, "/")
	return rubric.Criteria[criterion].Weight == 0
}
