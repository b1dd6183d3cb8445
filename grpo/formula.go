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
	"github.com/expr-lang/expr/vm"

	"toolgym/internal/refusal"
)

// The bounds of a formula. Without loops, ranges and growing texts its cost is
// at most maxNodes passes over the completion's text.
const (
	maxFormulaNodes = 200
	maxFormulaSize  = 2000
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
	tokens  bool // it speaks of tokens, which are not always known
}

func newFormula(text string) (*formula, error) {
	if len(text) > maxFormulaSize {
		return nil, refusal.New("", fmt.Sprintf("at most %d bytes", maxFormulaSize), "%d bytes", len(text))
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
	return &formula{program, check.tokens}, nil
}

// value works the formula out. A condition that holds is 1.
func (f *formula) value(v *variables) (float64, error) {
	if f.tokens && v.Tokens < 0 {
		return 0, errors.New(unknownTokens)
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
// variables, operators, conditions and the functions above are let through.
type scrutiny struct {
	err    error
	tokens bool
}

// Visit implements ast.Visitor.
func (s *scrutiny) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.UnaryNode, *ast.ConditionalNode, *ast.CallNode:
	case *ast.IdentifierNode:
		s.tokens = s.tokens || n.Value == "tokens"
	case *ast.BuiltinNode:
		if !slices.Contains(functions(), n.Name) {
			s.refuse(n.Name)
		}
	case *ast.BinaryNode:
		if n.Operator == ".." || n.Operator == "+" && !isNumber(n.Type()) {
			s.refuse(n.Operator)
		}
	default:
		s.refuse(strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%T", n), "*ast."), "Node")))
	}
}

func (s *scrutiny) refuse(what string) {
	if s.err == nil {
		s.err = refusal.New("", "numbers, texts, conditions and "+strings.Join(functions(), ", "), "formulas have no %q", what)
	}
}

func isKind(t reflect.Type, kind reflect.Kind) bool { return t != nil && t.Kind() == kind }

func isNumber(t reflect.Type) bool {
	return isKind(t, reflect.Int) || isKind(t, reflect.Float64)
}
