package grpo_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"toolgym/grpo"
)

// TestReadingPolicyNamesEveryDefect keeps the policy complete: a defect that a
// reading can have is decided on there.
func TestReadingPolicyNamesEveryDefect(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "parse/reading.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Defect") {
			return true
		}
		count++
		name := strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)
		if !strings.Contains(grpo.ReadingPolicy(), "`"+name+"`") {
			t.Errorf("POLICY.md does not name %s", name)
		}
		return true
	})
	if count < 50 {
		t.Errorf("found only %d defects", count)
	}
}
