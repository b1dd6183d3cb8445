package match

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// A Made call is one that the model made, its arguments decoded with exact
// numbers. One that is not Valid against its tool's schema fits nothing and is
// extra.
type Made struct {
	Name      string
	Arguments map[string]any
	Valid     bool
}

// A Report says how the calls made stand to those expected. The calls are named
// by their index.
type Report struct {
	// Credit is 1 where every expected call was made and nothing is left over,
	// 0 where a call is missing, and in between as Expected.Extra says.
	Credit float64
	// Pairs holds, for each expected call, the call made that fits it, or −1.
	Pairs []int
	// Missing lists the expected calls that nothing fits.
	Missing []int
	// Extra lists the calls made that stand for none expected.
	Extra []Leftover
}

// A Leftover is a call made that stands for none expected.
type Leftover struct {
	Made int
	// Repeats is an earlier call made that is equal, or −1.
	Repeats int
	// Instead is the missing expected call of the same name that comes
	// nearest, or −1, and Differs the arguments in which it differs.
	Instead int
	Differs []string
}

// Calls compares the calls made with the expected ones. The error is that of
// [Plan.CallsInto].
func (p *Plan) Calls(made []Made) (Report, error) {
	var r Report
	err := p.CallsInto(context.Background(), &r, made)
	return r, err
}

// CallsInto is Calls into a report that was used before, whose lists are
// overwritten. The error, an [*tools.Error] with the code too_large, says that this
// takes more than [MaxSteps], or is the context's; the report is not to be used
// then.
func (p *Plan) CallsInto(ctx context.Context, r *Report, made []Made) error {
	w := &work{left: MaxSteps, ended: ctx.Done()}
	p.compare(w, r, made)
	return w.err(ctx)
}

func (p *Plan) compare(w *work, r *Report, made []Made) {
	*r = Report{Credit: 1, Pairs: r.Pairs[:0], Missing: r.Missing[:0], Extra: r.Extra[:0]}
	if p.any || len(made) == 0 && len(p.calls) == 0 {
		return
	}
	compared := made[:min(len(made), maxMade)]
	r.Pairs = p.pair(w, r.Pairs, compared)
	for i, j := range r.Pairs {
		if j < 0 {
			r.Missing = append(r.Missing, i)
		}
	}
	extra := len(made) - len(r.Pairs) + len(r.Missing)
	if extra > 0 {
		p.leftovers(w, r, made, compared)
	}
	r.Credit = p.credit(len(r.Missing), extra)
}

// credit is what the completion is worth with so many calls missing and left
// over.
func (p *Plan) credit(missing, extra int) float64 {
	switch {
	case missing > 0:
		return 0
	case extra == 0 || p.extra == Allow:
		return 1
	case p.extra == Divide:
		return 1 / float64(1+extra)
	}
	return 0
}

// pair finds the pairs of as many expected calls as possible; room is an empty
// list for them. The two plain cases come first and need no assignment: each call
// stands where it is expected, and one call that is not the one expected.
func (p *Plan) pair(w *work, room []int, made []Made) []int {
	if p.alongside(w, made) {
		for i := range made {
			room = append(room, i)
		}
		return room
	}
	if len(made) == 1 && len(p.calls) == 1 {
		return append(room, -1)
	}
	fits := table(len(p.calls), len(made), func(i, j int) int {
		if p.calls[i].fits(w, &made[j]) {
			return 1
		}
		return 0
	})
	if p.order {
		return inOrder(fits, len(made))
	}
	return assign(fits, len(made))
}

// alongside reports whether each call made stands where it is expected.
func (p *Plan) alongside(w *work, made []Made) bool {
	if len(made) != len(p.calls) {
		return false
	}
	for i := range p.calls {
		if !p.calls[i].fits(w, &made[i]) {
			return false
		}
	}
	return true
}

// leftovers describes the calls that stand for no expected one. The nearest
// missing call is found by assignment as well, so that two leftovers are never
// told to be the same one.
func (p *Plan) leftovers(w *work, r *Report, made, compared []Made) {
	var few [8]int // most completions leave few
	left := few[:0]
	for j := range compared {
		if !slices.Contains(r.Pairs, j) {
			left = append(left, j)
		}
	}
	near := p.nearest(w, r.Missing, left, compared)
	r.Extra = slices.Grow(r.Extra, len(left)+len(made)-len(compared))
	for k, j := range left {
		l := Leftover{Made: j, Repeats: repeats(w, compared, j), Instead: -1}
		if i := slices.Index(near, k); i >= 0 {
			l.Instead = r.Missing[i]
			l.Differs = p.calls[l.Instead].differences(w, &compared[j])
		}
		r.Extra = append(r.Extra, l)
	}
	for j := len(compared); j < len(made); j++ {
		r.Extra = append(r.Extra, Leftover{Made: j, Repeats: -1, Instead: -1})
	}
}

// nearest pairs the missing expected calls with the calls that are left, by
// likeness, and returns for each missing one the place in left or −1.
func (p *Plan) nearest(w *work, missing, left []int, made []Made) []int {
	if len(missing) == 1 && len(left) == 1 && p.calls[missing[0]].name == made[left[0]].Name {
		return []int{0}
	}
	return assign(table(len(missing), len(left), func(i, j int) int {
		return p.calls[missing[i]].likeness(w, &made[left[j]])
	}), len(left))
}

// repeats finds the first earlier call that is equal to call j, or −1.
func repeats(w *work, made []Made, j int) int {
	exact := Matcher{}
	for i := range j {
		if made[i].Name == made[j].Name && exact.equal(w, made[i].Arguments, made[j].Arguments) {
			return i
		}
	}
	return -1
}

// fits reports whether the call made is the expected one.
func (c *call) fits(w *work, m *Made) bool {
	if !m.Valid || m.Name != c.name {
		return false
	}
	for i := range c.arguments {
		if !c.right(w, &c.arguments[i], m) {
			return false
		}
	}
	return c.nothingElse(w, m)
}

// nothingElse reports whether every argument of m is expected or equal to its
// declared default.
func (c *call) nothingElse(w *work, m *Made) bool {
	expected := 0
	for i := range c.arguments {
		if _, ok := m.Arguments[c.arguments[i].name]; ok {
			expected++
		}
	}
	if expected == len(m.Arguments) {
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(m.Arguments)) { // the work depends on the order
		if !c.expects(name) && !c.isDefault(w, name, m.Arguments[name]) {
			return false
		}
	}
	return true
}

func (c *call) expects(name string) bool {
	for i := range c.arguments {
		if c.arguments[i].name == name {
			return true
		}
	}
	return false
}

func (c *call) isDefault(w *work, name string, value any) bool {
	def, ok := c.optional[name]
	return ok && Matcher{}.equal(w, def, value)
}

// right reports whether m's value of one argument is as expected, with declared
// defaults put in for what is absent on either side.
func (c *call) right(w *work, a *argument, m *Made) bool {
	have, present := m.Arguments[a.name]
	if !present {
		have, present = c.optional[a.name]
	}
	if !present && a.matcher.Optional {
		return true
	}
	if a.matcher.Any {
		return present || len(a.values) == 0
	}
	if len(a.values) == 0 {
		def, ok := c.optional[a.name]
		return present == ok && (!ok || a.matcher.equal(w, def, have))
	}
	if !present {
		return false
	}
	for _, want := range a.values {
		if a.matcher.equal(w, want, have) {
			return true
		}
	}
	return false
}

// likeness is 0 for another tool's call, and otherwise grows with the number of
// arguments that are right.
func (c *call) likeness(w *work, m *Made) int {
	if m.Name != c.name {
		return 0
	}
	return 1 + len(c.arguments) + len(m.Arguments) - len(c.differences(w, m))
}

// differences names the arguments that are wrong, missing or unexpected.
func (c *call) differences(w *work, m *Made) []string {
	var wrong []string
	for i := range c.arguments {
		if a := &c.arguments[i]; !c.right(w, a, m) {
			wrong = append(wrong, a.name)
		}
	}
	if c.nothingElse(w, m) {
		return wrong // they are sorted
	}
	for name, value := range m.Arguments {
		if !c.expects(name) && !c.isDefault(w, name, value) {
			wrong = append(wrong, name)
		}
	}
	slices.Sort(wrong)
	return wrong
}

// String says in a word what a leftover is, for a table.
func (l Leftover) String() string {
	switch {
	case l.Repeats >= 0:
		return fmt.Sprintf("repeats call %d", l.Repeats)
	case l.Instead >= 0:
		return fmt.Sprintf("stands in place of expected call %d, differs in %v", l.Instead, l.Differs)
	}
	return "nothing expects it"
}
