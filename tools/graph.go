package tools

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The validator takes no context and counts no steps, so that what it would do
// is counted before it is called. A graph holds the subschemas of a compiled
// schema for that purpose: those that apply to the value of another come after
// it, so that one pass in order finds out how often each applies.
type graph struct {
	nodes     []node
	index     map[*jsonschema.Schema]int32
	root      int32
	expanded  float64 // subschemas once references are expanded; one that encloses itself counts once
	weight    float64 // the most steps that those take for a value of size 1
	recursive bool    // a part of a value may have the schema of the whole
	tracks    bool    // evaluated parts are kept track of, for unevaluatedItems and unevaluatedProperties
}

type node struct {
	schema   *jsonschema.Schema
	kinds    kinds
	same     []int32 // those that apply to the same value
	chain    int     // how many apply to one value, each because of the one before
	programs int     // instructions of the patterns of patternProperties
	weight   float64 // the most steps for a value of size 1, without those it refers to
	items    bool    // it has schemas for items
	members  bool    // it has schemas for properties, or their names
}

// newGraph makes the graph of a schema. Order is that of findCircle.
func newGraph(root *jsonschema.Schema, order, dynamic []*jsonschema.Schema) (*graph, error) {
	g := &graph{nodes: make([]node, len(order)), index: make(map[*jsonschema.Schema]int32, len(order))}
	slices.Reverse(order)
	for i, s := range order {
		g.index[s] = int32(i)
		g.tracks = g.tracks || s.UnevaluatedProperties != nil || s.UnevaluatedItems != nil
	}
	g.root = g.index[root]
	for i, s := range order {
		n := newNode(s)
		n.chain = g.nodes[i].chain
		for _, next := range sameValue(s, dynamic) {
			to := g.index[next]
			n.same = append(n.same, to)
			g.nodes[to].chain = max(g.nodes[to].chain, n.chain+1)
		}
		n.weight += float64(n.chain) / chainPerStep
		if n.chain > maxChain {
			return nil, tooMuch("/parameters", fmt.Sprintf("more than %d schemas apply to one value, each because of the one before", maxChain), maxChain)
		}
		g.nodes[i] = n
	}
	x := expansion{graph: g, dynamic: dynamic, known: make([]expanded, len(order))}
	total := x.expand(g.root)
	g.expanded, g.weight = total.nodes, total.weight
	if g.expanded > maxExpanded {
		return nil, tooMuch("/parameters", fmt.Sprintf("the schema expands to more than %d nodes", maxExpanded), maxExpanded)
	}
	return g, nil
}

func newNode(s *jsonschema.Schema) node {
	n := node{schema: s, kinds: kindAny, weight: 3}
	if s.Types != nil && !s.Types.IsEmpty() {
		n.kinds = kindsNamed(s.Types.ToStrings())
	}
	n.items = s.Items2020 != nil || s.PrefixItems != nil || s.Contains != nil || s.UnevaluatedItems != nil || s.Items != nil || s.AdditionalItems != nil
	n.members = s.Properties != nil || s.PatternProperties != nil || s.AdditionalProperties != nil || s.PropertyNames != nil || s.UnevaluatedProperties != nil
	for re := range s.PatternProperties {
		if p, ok := re.(*pattern); ok {
			n.programs += p.program
		}
	}
	n.weight += float64(len(s.Required)+dependents(s))/namesPerStep + float64(n.programs)*8/programPerStep
	if p, ok := s.Pattern.(*pattern); ok {
		n.weight += float64(p.program) * 8 / programPerStep
	}
	if s.Enum != nil {
		n.weight += float64(len(s.Enum.Values))
	}
	if s.UniqueItems {
		n.weight += uniquePerPart
	}
	if s.MultipleOf != nil {
		n.weight += 16
	}
	return n
}

// An expansion counts what a graph is once references are expanded.
type expansion struct {
	graph   *graph
	dynamic []*jsonschema.Schema
	known   []expanded
}

type expanded struct {
	state         visit
	nodes, weight float64
}

func (x *expansion) expand(i int32) expanded {
	switch x.known[i].state {
	case open:
		x.graph.recursive = true
		return expanded{nodes: 1}
	case closed:
		return x.known[i]
	}
	x.known[i].state = open
	s := x.graph.nodes[i].schema
	next := append(sameValue(s, x.dynamic), partsOfValue(s)...)
	slices.SortFunc(next, func(a, b *jsonschema.Schema) int { return cmp.Compare(a.Location, b.Location) }) // what counts once depends on the order
	total := expanded{state: closed, nodes: 1, weight: x.graph.nodes[i].weight}
	for _, one := range next {
		part := x.expand(x.graph.index[one])
		total.nodes += part.nodes
		total.weight += part.weight
	}
	x.known[i] = total
	return total
}

// kinds is a set of the types of JSON.
type kinds uint8

const (
	kindNull kinds = 1 << iota
	kindBoolean
	kindNumber
	kindString
	kindArray
	kindObject
	kindAny = 1<<iota - 1
)

func kindsNamed(names []string) (set kinds) {
	for _, name := range names {
		switch name {
		case "null":
			set |= kindNull
		case "boolean":
			set |= kindBoolean
		case "number", "integer":
			set |= kindNumber
		case "string":
			set |= kindString
		case "array":
			set |= kindArray
		case "object":
			set |= kindObject
		}
	}
	return set
}

func kindOf(value any) kinds {
	switch value.(type) {
	case nil:
		return kindNull
	case bool:
		return kindBoolean
	case string:
		return kindString
	case []any:
		return kindArray
	case map[string]any:
		return kindObject
	}
	return kindNumber
}
