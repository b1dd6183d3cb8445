package refusal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolgym/internal/refusal"
	"toolgym/tools"
)

func TestPlaces(t *testing.T) {
	mistake := refusal.New("/n", "a number", "%q", "x")
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"new", mistake, `/n: "x"; expected a number`},
		{"below", refusal.Below("/a/0", mistake), `/a/0/n: "x"; expected a number`},
		{"below, twice", refusal.Below("/b", refusal.Below("/a", mistake)), `/b/a/n: "x"; expected a number`},
		{"moved", refusal.Move("loss", mistake), `loss: "x"; expected a number`},
		{"relocated", refusal.Relocate(mistake, strings.ToUpper), `/N: "x"; expected a number`},
		{"its own", refusal.Of(mistake, "a text"), `/n: "x"; expected a number`},
		{"none of those", refusal.OneOf("pool", "deep", "batch", "own"), `pool: unknown pool "deep"; expected one of batch, own`},
		{"of another", refusal.Of(errors.New("100% wrong"), "a text"), `100% wrong; expected a text`},
		{"wrapped", refusal.Below("/a", fmt.Errorf("reading: %w", mistake)), `/a/n: "x"; expected a number`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			e, ok := errors.AsType[*tools.Error](test.err)
			if !ok || e.Code != tools.Invalid || e.Error() != test.want {
				t.Errorf("%v, want %s", test.err, test.want)
			}
		})
	}
	if err := refusal.OneOf("pool", "own", "batch", "own"); err != nil {
		t.Errorf("a known value is refused: %v", err)
	}
	if mistake.Error() != tests[0].want {
		t.Errorf("moving changed the mistake itself: %v", mistake)
	}
}

func TestOthersArePassedOn(t *testing.T) {
	fault := errors.New("disk on fire")
	for _, err := range []error{fault, nil} {
		if !errors.Is(refusal.Below("/a", err), err) || !errors.Is(refusal.Move("/a", err), err) {
			t.Errorf("%v became another", err)
		}
	}
}

func TestIs(t *testing.T) {
	refused := fmt.Errorf("reading: %w", refusal.New("", "", "no"))
	tests := []struct {
		name  string
		err   error
		codes []string
		want  bool
	}{
		{"the code", refused, []string{tools.Invalid}, true},
		{"one of the codes", refused, []string{tools.NotFound, tools.Invalid}, true},
		{"another code", refused, []string{tools.NotFound}, false},
		{"no mistake of a caller's", errors.New("invalid"), []string{tools.Invalid}, false},
		{"no error", nil, []string{tools.Invalid}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := refusal.Is(test.err, test.codes...); got != test.want {
				t.Errorf("%v is one of %v: %v, want %v", test.err, test.codes, got, test.want)
			}
		})
	}
}
