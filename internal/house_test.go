package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// modulePath is the module's own import prefix.
const modulePath = "toolgym"

// source is one parsed Go file. Its path is relative to the module's root.
type source struct {
	path      string
	lines     int
	test      bool
	generated bool
	tree      *ast.File
}

// room is the folder of a source, which is its package's path below the
// module path; "." is the root.
func (s source) room() string { return path.Dir(s.path) }

// house is the module as the rules see it: its hand-written Go files and the
// folders at its top.
type house struct {
	fset    *token.FileSet
	sources []source
	top     []string
}

// readHouse parses every Go file below root, comments included. Left out are
// testdata, folders that the go command ignores too, and the temporary
// package that pins dependencies.
func readHouse(root fs.FS) (*house, error) {
	h := &house{fset: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return h.enter(name)
		case strings.HasSuffix(name, ".go"):
			return h.read(root, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the module: %w", err)
	}
	return h, nil
}

func (h *house) enter(name string) error {
	base := path.Base(name)
	switch {
	case name == ".":
		return nil
	case base == "testdata", base[0] == '.', base[0] == '_':
		return fs.SkipDir
	case !strings.Contains(name, "/"):
		h.top = append(h.top, name)
	}
	return nil
}

func (h *house) read(root fs.FS, name string) error {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	tree, err := parser.ParseFile(h.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	h.sources = append(h.sources, source{
		path:      name,
		lines:     len(slices.Collect(strings.Lines(string(text)))),
		test:      strings.HasSuffix(name, "_test.go"),
		generated: ast.IsGenerated(tree),
		tree:      tree,
	})
	return nil
}

// written returns the sources that a person wrote.
func (h *house) written() []source {
	return slices.DeleteFunc(slices.Clone(h.sources), func(s source) bool { return s.generated })
}

// rooms returns the written sources by folder. A folder with nothing but
// tests is a room too.
func (h *house) rooms() map[string][]source {
	rooms := map[string][]source{}
	for _, s := range h.written() {
		rooms[s.room()] = append(rooms[s.room()], s)
	}
	return rooms
}

// function is a declared function or method, or a function literal outside
// of one.
type function struct {
	name  string
	where token.Position
	lines int
}

// functions lists the outermost functions of s.
func (h *house) functions(s source) []function {
	var found []function
	ast.Inspect(s.tree, func(n ast.Node) bool {
		name := "a function literal"
		switch f := n.(type) {
		case *ast.FuncDecl:
			name = f.Name.Name
		case *ast.FuncLit:
		default:
			return true
		}
		from, to := h.fset.Position(n.Pos()), h.fset.Position(n.End())
		found = append(found, function{name, from, to.Line - from.Line + 1})
		return false
	})
	return found
}

// exported lists the exported types and functions that a room offers.
func exported(room []source) []string {
	var names []string
	for _, s := range room {
		if s.test {
			continue
		}
		for _, decl := range s.tree.Decls {
			names = append(names, exportedIn(decl)...)
		}
	}
	return names
}

func exportedIn(decl ast.Decl) []string {
	var names []string
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok && t.Name.IsExported() {
				names = append(names, t.Name.Name)
			}
		}
	}
	return names
}

// imports lists the paths that s imports.
func imports(s source) []string {
	var paths []string
	for _, spec := range s.tree.Imports {
		paths = append(paths, strings.Trim(spec.Path.Value, `"`))
	}
	return paths
}
