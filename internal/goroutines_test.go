package internal_test

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

// goroutinePath is the package that starts goroutines.
const goroutinePath = modulePath + "/internal/goroutine"

// checkGoroutines reports goroutines that are not started by package goroutine,
// in which a panic ends the process: go statements, and everything named Go that
// is not that package's, such as the methods of [sync.WaitGroup] and errgroup.Group.
// It knows no types: the module has no other Go.
func checkGoroutines(h *house) (broken []string) {
	for _, s := range h.sources {
		if s.test || s.room() == strings.TrimPrefix(goroutinePath, modulePath+"/") {
			continue
		}
		name := goroutineName(s)
		ast.Inspect(s.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				broken = append(broken, fmt.Sprintf("%s: a go statement; expected goroutine.Go", h.fset.Position(n.Pos())))
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); n.Sel.Name == "Go" && (!ok || name == "" || x.Name != name) {
					broken = append(broken, fmt.Sprintf("%s: another Go; expected goroutine.Go", h.fset.Position(n.Sel.Pos())))
				}
			}
			return true
		})
	}
	return broken
}

// goroutineName is the name by which s imports package goroutine, or empty.
func goroutineName(s source) string {
	for _, spec := range s.tree.Imports {
		switch {
		case strings.Trim(spec.Path.Value, `"`) != goroutinePath:
		case spec.Name != nil:
			return spec.Name.Name
		default:
			return path.Base(goroutinePath)
		}
	}
	return ""
}
