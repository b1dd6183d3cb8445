package grpo

import "encoding/json"

// A heading is what the criteria of many completions have in common.
type heading struct {
	names   []string
	weights []float64
	labels  []label
}

// A label is what the JSON of a criterion says whatever its value is.
type label struct{ before, between []byte }

// newHeading takes the names and the weights of criteria.
func newHeading(scores []CriterionScore) *heading {
	h := &heading{}
	for i, score := range scores {
		h.names, h.weights = append(h.names, score.Name), append(h.weights, score.Weight)
		h.labels = append(h.labels, newLabel(score.Name, score.Weight, i == 0))
	}
	return h
}

func newLabel(name string, weight float64, first bool) label {
	before := []byte{','}
	if first {
		before[0] = '{'
	}
	quoted, _ := json.Marshal(name) // a string always encodes
	before = append(append(before, quoted...), `:{"value":`...)
	return label{before, append(appendNumber([]byte(`,"weight":`), weight, true), `,"reward":`...)}
}

// blank makes criteria of which nothing is worked out yet. The room for their
// values is the caller's, and zero.
func (h *heading) blank(room []float64) Criteria { return Criteria{heading: h, values: room} }
