package grpo

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

// The bounds of a formula. Without loops, ranges and growing texts its work is in
// proportion to the completion's text: so many passes over it, which are known
// when it is compiled.
const (
	maxFormulaNodes   = 200
	maxFormulaSize    = 2000
	maxFormulaProgram = 1000 // instructions of all its patterns
)

// maxFormulaWork bounds what all formulas of a rubric may take for one completion,
// in bytes that are copied or compared, or steps of matching, of about a
// nanosecond.
const maxFormulaWork = 1e9

// What looking at a byte of a text takes.
const (
	textWork  = 2 // to copy or compare it
	matchWork = 4 // to take it to an instruction of a pattern
	callWork  = 4 // of a call, by called
)

// variables are what a formula can speak of.
type variables struct {
	Format           float64 `expr:"format"`
	Schema           float64 `expr:"schema"`
	Completion       float64 `expr:"completion"`
	CallsEmitted     float64 `expr:"calls_emitted"`
	CallsParsed      float64 `expr:"calls_parsed"`
	CallsValid       float64 `expr:"calls_valid"`
	CallsExecuted    float64 `expr:"calls_executed"`
	CallsNeeded      float64 `expr:"calls_needed"`
	FabricatedResult float64 `expr:"fabricated_result"`
	UngroundedAnswer float64 `expr:"ungrounded_answer"`
	CopiedSchema     float64 `expr:"copied_schema"`
	RepeatedTags     float64 `expr:"repeated_tags"`
	EmptyTags        float64 `expr:"empty_tags"`
	Repetition       float64 `expr:"repetition"`
	Overlong         float64 `expr:"overlong"`
	HiddenViolations float64 `expr:"hidden_violations"`

	Turns   float64 `expr:"turns"`
	Tokens  float64 `expr:"tokens"`
	Matched float64 `expr:"matched"` // expected calls that were made
	// Text is everything that the model wrote, Answer what it said last.
	Text   string `expr:"text"`
	Answer string `expr:"answer"`
	// Called counts the calls of a tool.
	Called func(name string) int `expr:"called"`
}

// functions are the builtins that a formula may use: none that loops over a
// list, makes one, or looks at the clock.
func functions() []string {
	return []string{"abs", "ceil", "floor", "round", "min", "max", "len", "lower", "upper", "trim"}
}

// formula is a compiled expression. It is safe for concurrent use.
type formula struct {
	program *vm.Program
	tokens  bool    // it speaks of tokens, which are not always known
	perByte float64 // the work for each byte of the completion's text
	perCall float64 // and for each of its calls
}

func newFormula(text string) (*formula, error) {
	if len(text) > maxFormulaSize {
		return nil, refusal.New("", fmt.Sprintf("at most %d bytes", maxFormulaSize), "%d bytes", len(text))
	}
	if err := patternsOf(text); err != nil {
		return nil, err
	}
	options := []expr.Option{expr.Env(variables{}), expr.MaxNodes(maxFormulaNodes), expr.Optimize(false), expr.DisableAllBuiltins()}
	for _, name := range functions() {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(text, options...)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return nil, refusal.New("", "an expression over the criteria, turns, tokens, matched, text, answer and called(name)", "%s", line)
	}
	node := program.Node()
	check := &scrutiny{}
	ast.Walk(&node, check)
	if check.err != nil {
		return nil, check.err
	}
	if !isNumber(node.Type()) && !isKind(node.Type(), reflect.Bool) {
		return nil, refusal.New("", "a number or a condition", "the formula gives %v", node.Type())
	}
	return &formula{program: program, tokens: check.tokens, perByte: check.perByte, perCall: check.perCall}, nil
}

// work is what it takes, at most, to work the formula out.
func (f *formula) work(v *variables) float64 {
	return f.perByte*float64(maxFormulaSize+len(v.Text)+len(v.Answer)) + f.perCall*v.CallsEmitted
}

// value works the formula out, within the work that is left for the completion. A
// condition that holds is 1.
func (f *formula) value(v *variables, left *float64) (float64, error) {
	if f.tokens && v.Tokens < 0 {
		return 0, errors.New(unknownTokens)
	}
	if *left -= f.work(v); *left < 0 {
		return 0, fmt.Errorf("the formulas take more than %d steps for a completion of %d bytes", int(maxFormulaWork), len(v.Text))
	}
	out, err := vm.Run(f.program, v)
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		return 0, fmt.Errorf("running the formula: %s", line)
	}
	number := reflect.ValueOf(out)
	var value float64
	switch {
	case number.Kind() == reflect.Bool && number.Bool():
		value = 1
	case number.Kind() == reflect.Bool:
	case number.CanInt():
		value = float64(number.Int())
	case number.CanFloat():
		value = number.Float()
	default:
		return 0, fmt.Errorf("running the formula: it gave %T", out)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("running the formula: it gave %v", value)
	}
	return value, nil
}

// scrutiny refuses what could make a formula costly: only numbers, texts,
// variables, operators, conditions and the functions above are let through. It
// counts what they take as it goes.
type scrutiny struct {
	err              error
	tokens           bool
	program          int // instructions of the patterns
	perByte, perCall float64
}

// Visit implements ast.Visitor.
func (s *scrutiny) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.UnaryNode, *ast.ConditionalNode:
	case *ast.CallNode:
		s.perCall += callWork
		s.perByte += textWork // its argument is compared with each name
	case *ast.IdentifierNode:
		s.tokens = s.tokens || n.Value == "tokens"
	case *ast.BuiltinNode:
		if !slices.Contains(functions(), n.Name) {
			s.refuse(n.Name)
		}
		s.perByte += textWork
	case *ast.BinaryNode:
		if n.Operator == ".." || n.Operator == "+" && !isNumber(n.Type()) {
			s.refuse(n.Operator)
		}
		if n.Operator == "matches" {
			s.pattern(n.Right)
		}
		if !isNumber(n.Left.Type()) {
			s.perByte += textWork
		}
	default:
		s.refuse(strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast."), "Node")))
	}
}

// patternsOf checks the patterns of a formula before they are compiled. A text that
// is no formula is for the compiler to refuse.
func patternsOf(text string) error {
	tree, err := parser.Parse(text)
	if err != nil {
		return nil //nolint:nilerr // the compiler says it better
	}
	check := &patterns{}
	ast.Walk(&tree.Node, check)
	return check.err
}

// patterns finds the patterns of a formula.
type patterns struct{ scrutiny }

// Visit implements ast.Visitor.
func (p *patterns) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.BinaryNode); ok && n.Operator == "matches" {
		p.pattern(n.Right)
	}
}

// pattern counts what matching takes. The pattern is known: one that a completion
// makes could be of any size.
func (s *scrutiny) pattern(node ast.Node) {
	constant, ok := node.(*ast.StringNode)
	if !ok {
		s.fail(refusal.New("", `a pattern in quotes, as in text matches "^so "`, "the pattern of matches is made by the formula"))
		return
	}
	size, err := tools.PatternSize(constant.Value)
	if err != nil {
		s.fail(refusal.New("", "a regular expression", "%v", err)) // of which the compiler has told already
		return
	}
	if s.program += size; s.program > maxFormulaProgram {
		s.fail(refusal.New("", fmt.Sprintf("at most %d", maxFormulaProgram), "the patterns of the formula need %d instructions", s.program))
	}
	s.perByte += float64(matchWork * size)
}

func (s *scrutiny) refuse(what string) {
	s.fail(refusal.New("", "numbers, texts, conditions and "+strings.Join(functions(), ", "), "formulas have no %q", what))
}

func (s *scrutiny) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

func isKind(t reflect.Type, kind reflect.Kind) bool { return t != nil && t.Kind() == kind }

func isNumber(t reflect.Type) bool {
	return isKind(t, reflect.Int) || isKind(t, reflect.Float64)
}
