package tools

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// MaxSteps is how many steps the arguments of one call may take to be checked.
// A step is about what a subschema takes that accepts a value.
const MaxSteps = 1_000_000

// fewSteps is how many steps are not counted one by one.
const fewSteps = 256

// charge takes the steps that the validator needs for a value from those that
// are left. It is the same for the same schema and value.
func (g *graph) charge(ctx context.Context, value any, left *int) error {
	steps := fewSteps + 1.0
	if !g.recursive {
		steps = g.weight * sizeOf(value)
	}
	if steps > fewSteps {
		steps = g.count(ctx, value)
	}
	if err := ended(ctx); err != nil {
		return err // the steps were not counted to the end
	}
	if steps > MaxSteps || int(steps) > *left {
		return &Error{Code: TooLarge, Message: fmt.Sprintf("checking the arguments against the schema takes more than %d steps", min(*left, MaxSteps)),
			Want: "smaller arguments, or a schema with fewer alternatives, references and patterns"}
	}
	*left -= int(steps)
	return nil
}

// A meter counts the steps that the validator takes at most: it goes through a
// value once, with the subschemas that apply to each part, and how often. That
// takes no more time than the steps it counts; over MaxSteps it gives up.
type meter struct {
	*graph

	ended   <-chan struct{} // the context's end; nil where it has none
	steps   float64
	times   []float64 // how often each node applies to the value that is next
	pending []uint64  // a bit for each node of which that is not 0
	active  []applied // the nodes of the values that enclose the next one
}

type applied struct {
	node  int32
	times float64
}

func (g *graph) count(ctx context.Context, value any) float64 {
	m := meter{graph: g, ended: ctx.Done(), times: make([]float64, len(g.nodes)), pending: make([]uint64, len(g.nodes)/64+1)}
	m.apply(g.root, 1)
	m.visit(value)
	return m.steps
}

func (m *meter) apply(node int32, times float64) {
	m.times[node] += times
	m.pending[node/64] |= 1 << (node % 64)
}

func (m *meter) applySchema(s *jsonschema.Schema, times float64) {
	if s != nil {
		m.apply(m.index[s], times)
	}
}

// applyHeld applies what a keyword holds that may hold other things as well.
func (m *meter) applyHeld(held any, times float64) {
	if s, ok := held.(*jsonschema.Schema); ok {
		m.applySchema(s, times)
	}
}

// exceeded reports whether counting goes no further.
func (m *meter) exceeded() bool {
	select {
	case <-m.ended:
		return true
	default:
	}
	return m.steps > MaxSteps
}

// ended is the context's error as that of a validation.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("checking arguments: %w", err)
	}
	return nil
}

// visit counts the steps for a value, and for its parts.
func (m *meter) visit(value any) {
	first := len(m.active)
	m.same(value)
	switch v := value.(type) {
	case []any:
		for i := 0; i < len(v) && len(m.active) > first && !m.exceeded(); i++ {
			for _, a := range m.active[first:] {
				m.item(a, i)
			}
			m.visit(v[i])
		}
	case map[string]any:
		for name, item := range v {
			if len(m.active) == first || m.exceeded() {
				break
			}
			for _, a := range m.active[first:] {
				m.member(a, name)
			}
			m.visit(item)
			for _, a := range m.active[first:] {
				m.applySchema(m.nodes[a.node].schema.PropertyNames, a.times)
			}
			m.visit(name)
		}
	}
	m.active = m.active[:first]
}

// same counts the steps of all nodes that apply to a value itself, and keeps
// those active that have schemas for its parts.
func (m *meter) same(value any) {
	kind := kindOf(value)
	for word := range m.pending {
		for m.pending[word] != 0 && !m.exceeded() {
			i := int32(64*word + bits.TrailingZeros64(m.pending[word]))
			m.pending[word] &= m.pending[word] - 1
			n, times := &m.nodes[i], m.times[i]
			m.times[i] = 0
			if n.kinds&kind == 0 {
				m.steps += times
				continue
			}
			m.steps += times * m.own(n, value)
			for _, next := range n.same {
				m.apply(next, times) // which comes later
			}
			if kind == kindArray && n.items || kind == kindObject && n.members {
				m.active = append(m.active, applied{i, times})
			}
		}
	}
}

// item applies a node's schemas for an item of an array.
func (m *meter) item(a applied, i int) {
	s := m.nodes[a.node].schema
	m.applySchema(s.Contains, a.times)
	several, _ := s.Items.([]*jsonschema.Schema)
	switch {
	case i < len(s.PrefixItems):
		m.applySchema(s.PrefixItems[i], a.times)
	case i < len(several):
		m.applySchema(several[i], a.times)
	case several != nil:
		m.applyHeld(s.AdditionalItems, a.times)
	case s.Items2020 != nil:
		m.applySchema(s.Items2020, a.times)
	case s.Items != nil:
		m.applyHeld(s.Items, a.times)
	default:
		m.applySchema(s.UnevaluatedItems, a.times)
	}
	if several != nil && i >= len(several) && s.AdditionalItems == nil {
		m.applySchema(s.UnevaluatedItems, a.times)
	}
}

// member applies a node's schemas for a property of an object.
func (m *meter) member(a applied, name string) {
	s := m.nodes[a.node].schema
	known := false
	if property, ok := s.Properties[name]; ok {
		known = true
		m.applySchema(property, a.times)
	}
	for re, property := range s.PatternProperties {
		if re.MatchString(name) {
			known = true
			m.applySchema(property, a.times)
		}
	}
	switch {
	case known:
	case s.AdditionalProperties != nil:
		m.applyHeld(s.AdditionalProperties, a.times)
	default:
		m.applySchema(s.UnevaluatedProperties, a.times)
	}
}
