package internal_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// The maxima of the house.
const (
	maxFileLines     = 700
	maxFunctionLines = 80
	maxExampleLines  = 80
	minManualLetters = 200
)

// checkImports reports imports that go against mayImport, and rooms without a
// row in it.
func checkImports(h *house) (broken []string) {
	for _, s := range h.sources {
		if _, ok := rowOf(s.room()); !ok {
			broken = append(broken, fmt.Sprintf("%s: the room %q has no row in mayImport", s.path, s.room()))
			continue
		}
		for _, to := range imports(s) {
			to, own := strings.CutPrefix(to, modulePath+"/")
			if own && !importAllowed(s.room(), to, s.test) {
				broken = append(broken, fmt.Sprintf("%s: %s may not import %s", s.path, s.room(), to))
			}
		}
	}
	return broken
}

// checkConfinement reports large dependencies outside of their rooms.
func checkConfinement(h *house) (broken []string) {
	table := confined()
	for _, s := range h.sources {
		row, _ := rowOf(s.room())
		for _, to := range imports(s) {
			for prefix, rooms := range table {
				if strings.HasPrefix(to, prefix) && !slices.Contains(rooms, row) {
					broken = append(broken, fmt.Sprintf("%s: %s belongs in %s only", s.path, to, strings.Join(rooms, ", ")))
				}
			}
		}
	}
	return broken
}

// checkFileLength reports files over the maximum.
func checkFileLength(h *house) (broken []string) {
	for _, s := range h.written() {
		if s.lines > maxFileLines {
			broken = append(broken, fmt.Sprintf("%s: %d lines, at most %d", s.path, s.lines, maxFileLines))
		}
	}
	return broken
}

func medianLines(sources []source) int {
	var lines []int
	for _, s := range sources {
		lines = append(lines, s.lines)
	}
	if len(lines) == 0 {
		return 0
	}
	slices.Sort(lines)
	return lines[len(lines)/2]
}

// checkFunctionLength reports functions over the maximum.
func checkFunctionLength(h *house) (broken []string) {
	for _, s := range h.written() {
		for _, f := range h.functions(s) {
			if f.lines > maxFunctionLines {
				broken = append(broken, fmt.Sprintf("%s: %s has %d lines, at most %d", f.where, f.name, f.lines, maxFunctionLines))
			}
		}
	}
	return broken
}

// checkExamples reports example programs that are too long to be read at a
// glance. Their manual and their tests do not count.
func checkExamples(h *house) (broken []string) {
	lines := map[string]int{}
	for _, s := range h.written() {
		if strings.HasPrefix(s.path, "examples/") && !s.test && path.Base(s.path) != "doc.go" {
			lines[s.room()] += s.lines
		}
	}
	for _, room := range slices.Sorted(maps.Keys(lines)) {
		if lines[room] > maxExampleLines {
			broken = append(broken, fmt.Sprintf("%s: %d lines, at most %d", room, lines[room], maxExampleLines))
		}
	}
	return broken
}

// checkManuals reports packages whose doc.go is missing or says next to
// nothing, and package comments outside of doc.go.
func checkManuals(h *house) (broken []string) {
	for room, sources := range h.rooms() {
		manual := ""
		for _, s := range sources {
			switch {
			case s.test || s.tree.Doc == nil:
			case path.Base(s.path) == "doc.go":
				manual = s.tree.Doc.Text()
			default:
				broken = append(broken, s.path+": the package comment belongs in doc.go")
			}
		}
		if len(manual) < minManualLetters {
			broken = append(broken, fmt.Sprintf("%s: doc.go needs a manual of at least %d letters, has %d", room, minManualLetters, len(manual)))
		}
	}
	return broken
}

// checkTop reports folders at the top that the design does not name. Hidden
// folders are the tools' own.
func checkTop(h *house) (broken []string) {
	rooms := []string{"plugin", "tools", "policy", "grpo", "api", "examples", "cmd", "internal"}
	for _, name := range h.top {
		if !slices.Contains(rooms, name) {
			broken = append(broken, name+": the design has no such folder at the top")
		}
	}
	return broken
}

// checkInit reports init functions: what happens at start is hidden from the
// reader and cannot be tested.
func checkInit(h *house) (broken []string) {
	for _, s := range h.written() {
		for _, decl := range s.tree.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				broken = append(broken, s.path+": no init functions")
			}
		}
	}
	return broken
}

// checkPaths reports string literals that lead out of the repository to what
// only the makers of this project have.
func checkPaths(h *house) (broken []string) {
	outside := regexp.MustCompile(`\.\./shared|/work/(shared|main|w)\b`)
	for _, s := range h.sources {
		ast.Inspect(s.tree, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && outside.MatchString(lit.Value) && s.room() != "internal" {
				broken = append(broken, fmt.Sprintf("%s: the path %s leads out of the repository", h.fset.Position(lit.Pos()), lit.Value))
			}
			return true
		})
	}
	return broken
}

// checkWords reports names of packages, files and exported types that say
// nothing about what they name.
func checkWords(h *house) (broken []string) {
	vague := regexp.MustCompile(`(?i)^(utils?|helpers?|managers?|common|misc|info|data|base)$`)
	word := regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)
	for _, s := range h.written() {
		names := word.FindAllString(strings.TrimSuffix(path.Base(s.path), ".go")+" "+path.Base(s.room()), -1)
		if !s.test {
			for _, name := range exported([]source{s}) {
				names = append(names, word.FindAllString(name, -1)...)
			}
		}
		for _, name := range names {
			if vague.MatchString(name) {
				broken = append(broken, fmt.Sprintf("%s: %q says nothing about what it names", s.path, name))
			}
		}
	}
	return broken
}
