package calculator_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"toolgym/internal/calculator"
)

func TestEvaluate(t *testing.T) {
	tests := []struct{ name, expression, want string }{
		{"twelve digits", "85/6", "14.1666666667"},
		{"decimals are exact", "0.1+0.2", "0.3"},
		{"precedence", "2+3*4", "14"},
		{"brackets", "(2+3)*4", "20"},
		{"power is right-associative", "2^3^2", "512"},
		{"power before sign", "-2^2", "-4"},
		{"negative exponent", "2^-2", "0.25"},
		{"sign within an exponent", "2^-3^2", "0.001953125"},
		{"negative base", "(-2)^3", "-8"},
		{"negative base and exponent", "(-2)^-3", "-0.125"},
		{"negative base, even negative exponent", "(-2)^-2", "0.25"},
		{"fraction to a power", "(2/3)^2", "0.444444444444"},
		{"zero to the zero", "0^0", "1"},
		{"sign after an operator", "2*-3", "-6"},
		{"many signs", "--+-1", "-1"},
		{"division is left-associative", "100/10/5", "2"},
		{"subtraction is left-associative", "10-3-2", "5"},
		{"remainder", "17%5", "2"},
		{"remainder has the dividend's sign", "-7%3", "-1"},
		{"remainder of fractions", "7.5%2", "1.5"},
		{"remainder with a negative divisor", "7%-3", "1"},
		{"product and remainder are left-associative", "7*3%4", "1"},
		{"typographic operators", "6×7÷2−1", "20"},
		{"white space", " 1 +\n2\t", "3"},
		{"leading point", ".5+1.", "1.5"},
		{"exponent of a literal", "1.25e3+1E-2", "1250.01"},
		{"beyond int64", "123456789012345678901234567890*10", "1234567890123456789012345678900"},
		{"two thirds", "2/3", "0.666666666667"},
		{"small, with infinite decimals", "1/3e9", "3.33333333333e-10"},
		{"large, with infinite decimals", "1e20/3", "3.33333333333e+19"},
		{"more than 1,000 decimals", "2^-1001", "4.66631809252e-302"},
		{"small, with finite decimals", "1/1024", "0.0009765625"},
		{"rounds up to a power of ten", "2999999999999/3000000000000.0001", "1"},
		{"one to a huge power", "1^(10^300)", "1"},
		{"minus one to a huge power", "(-1)^(10^300+1)", "-1"},
		{"zero to a huge power", "0^(10^300)", "0"},
		{"the largest power of two", "2^4095-2^4095", "0"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := calculator.Evaluate(test.expression)
			if err != nil || string(got) != test.want {
				t.Errorf("%s = %s, %v; expected %s", test.expression, got, err, test.want)
			}
		})
	}
}

func TestEvaluateErrors(t *testing.T) {
	tests := []struct{ name, expression, says string }{
		{"nothing", "", "unexpected end of the expression; expected a number or a bracket"},
		{"spaces", "  ", "unexpected end"},
		{"missing operand", "1+", "expected a number"},
		{"missing operator", "2(3)", `unexpected '(' at character 2; expected an operator`},
		{"letters", "2*x", `unexpected 'x' at character 3`},
		{"missing closing bracket", "(1+2", "expected an operator or )"},
		{"unmatched bracket", "1)", `unexpected ')'`},
		{"power operator of Python", "2**3", `unexpected '*'`},
		{"thousands", "1,000", `unexpected ','`},
		{"lone point", ".", "a digit"},
		{"lone exponent", "1e", "digits of an exponent"},
		{"division by zero", "1/(2-2)", "division by zero"},
		{"remainder by zero", "1%0", "division by zero"},
		{"negative power of zero", "0^-1", "division by zero"},
		{"fractional exponent", "2^0.5", "not an integer"},
		{"tower of powers", "9^9^9", "the power is too large"},
		{"higher tower", "9^9^9^9^9", "the power is too large"},
		{"tower below one", "0.1^9^9", "the power is too large"},
		{"large negative exponent", "2^-99999", "the power is too large"},
		{"repeated powers", "((((99999999999^9)^9)^9)^9)^9", "too large"},
		{"too many bits", "2^4095*4", "too large"},
		{"100,000 brackets", strings.Repeat("(", 100_000), "too long"},
		{"513 characters", strings.Repeat("1", 513), "too long"},
		{"65 brackets", strings.Repeat("(", 65) + "1" + strings.Repeat(")", 65), "nested too deeply"},
		{"65 signs", strings.Repeat("-", 65) + "1", "nested too deeply"},
		{"65 powers", strings.Repeat("1^", 65) + "1", "nested too deeply"},
		{"65 digits", strings.Repeat("1", 65), "too long: at most 64 digits"},
		{"exponent of a literal", "1e1301", "exponent at character 3 is too large"},
		{"huge exponent of a literal", "1e99999999999999999999", "too large"},
		{"product beyond the bits", "1e-1000*1e-1000", "too large"},
		{"literal beyond the bits", "1e1299", "too large"},
		{"invalid UTF-8", "1+\xff", "unexpected"},
		{"digits of another script", "٣+1", "unexpected"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := calculator.Evaluate(test.expression)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s, %v; expected an error with %q", got, err, test.says)
			}
			if err != nil && len(err.Error()) > 300 {
				t.Errorf("the message has %d bytes, want at most 300", len(err.Error()))
			}
		})
	}
}

func TestLimits(t *testing.T) {
	tests := []struct{ name, expression string }{
		{"512 characters", "1" + strings.Repeat("+1", 255) + " "},
		{"64 brackets", strings.Repeat("(", 64) + "1" + strings.Repeat(")", 64)},
		{"64 digits", strings.Repeat("9", 64)},
		{"512 characters of three bytes", "1" + strings.Repeat("−1", 255)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := calculator.Evaluate(test.expression); err != nil {
				t.Error(err)
			}
		})
	}
}

// tree is a random expression with its value.
type tree struct {
	text  string
	level int // precedence: 1 sum, 2 product, 3 sign, 4 power, 5 atom
	value *big.Rat
}

// grow draws a tree and computes its value with big.Rat, without parsing. The value is
// nil after a division by zero.
func grow(t *rapid.T, depth int) tree {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 || kind == 0 {
		n := rapid.IntRange(0, 9).Draw(t, "digit")
		return tree{fmt.Sprint(n), 5, new(big.Rat).SetInt64(int64(n))}
	}
	a := grow(t, depth-1)
	if kind == 1 {
		return tree{"-" + bracket(a, 3), 3, compute(a, a, func(z, x, _ *big.Rat) *big.Rat { return z.Neg(x) })}
	}
	if kind == 2 {
		return tree{bracket(a, 5) + "^2", 4, compute(a, a, (*big.Rat).Mul)}
	}
	b := grow(t, depth-1)
	switch kind {
	case 3:
		return tree{bracket(a, 1) + "+" + bracket(b, 2), 1, compute(a, b, (*big.Rat).Add)}
	case 4:
		return tree{bracket(a, 1) + " - " + bracket(b, 2), 1, compute(a, b, (*big.Rat).Sub)}
	case 5:
		return tree{bracket(a, 2) + "*" + bracket(b, 3), 2, compute(a, b, (*big.Rat).Mul)}
	}
	if b.value != nil && b.value.Sign() == 0 {
		b.value = nil
	}
	return tree{bracket(a, 2) + "/" + bracket(b, 3), 2, compute(a, b, (*big.Rat).Quo)}
}

// bracket adds brackets if the tree has a lower precedence than level.
func bracket(a tree, level int) string {
	if a.level < level {
		return "(" + a.text + ")"
	}
	return a.text
}

func compute(a, b tree, do func(z, x, y *big.Rat) *big.Rat) *big.Rat {
	if a.value == nil || b.value == nil {
		return nil
	}
	return do(new(big.Rat), a.value, b.value)
}

// TestEvaluateRandom evaluates random trees, printed with no more brackets than needed.
func TestEvaluateRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := grow(t, 4)
		got, err := calculator.Evaluate(want.text)
		if want.value == nil {
			if err == nil {
				t.Fatalf("%s = %s, want a division by zero", want.text, got)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", want.text, err)
		}
		value, ok := new(big.Rat).SetString(string(got))
		if !ok || !json.Valid([]byte(got)) {
			t.Fatalf("%s = %s is not a JSON number", want.text, got)
		}
		off := new(big.Rat).Sub(value, want.value)
		limit := new(big.Rat).Mul(want.value, big.NewRat(1, 100_000_000_000))
		if _, ends := want.value.FloatPrec(); ends {
			limit.SetInt64(0)
		}
		if off.Abs(off).Cmp(limit.Abs(limit)) > 0 {
			t.Errorf("%s = %s, want %s", want.text, got, want.value.RatString())
		}
	})
}

func FuzzEvaluate(f *testing.F) {
	for _, seed := range []string{"9^9^9", "1/3", "((((", "-2^-3^2", "1e-1000*1e-1000", "×÷−", "0^-1", "1^(10^300)", "7%-.5", "07^-10", "81^-23^2", "32^-700", "2^-99999", "(-2)^-3", "\xff", "1e+", "2^4095*2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		got, err := calculator.Evaluate(expression)
		if err != nil {
			return
		}
		if !json.Valid([]byte(got)) || len(got) > 3000 {
			t.Errorf("%q = %s", expression, got)
		}
		// The difference may exceed a limit.
		if again, err := calculator.Evaluate(string(got) + "-(" + string(got) + ")"); err == nil && again != "0" {
			t.Errorf("%q = %s; minus itself it is %s", expression, got, again)
		}
	})
}

func BenchmarkCalculator(b *testing.B) {
	for name, expression := range map[string]string{"usual": "(4*2+7)/6-3*5", "bomb": "9^9^9", "brackets": strings.Repeat("(", 100_000), "worst sum": worstSum()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_, _ = calculator.Evaluate(expression)
			}
		})
	}
}

// worstSum returns the most expensive expression within the limits: fractions without
// a common denominator.
func worstSum() string {
	text := "1/3"
	for n := 5; len(text) < 500; n += 2 {
		text += fmt.Sprintf("+1/%d", n*n+2)
	}
	return text
}
