package parts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// Part is a program from outside that some tests need.
type Part int

// The programs that tests of this module ask for.
const (
	Ollama     Part = iota // a server for language models, 0.6.5 or later
	Chromium               // a browser that runs without a screen
	Torch                  // a Python 3 that can import torch
	Jsonschema             // a Python 3 that can import jsonschema
	Python                 // a Python 3.10 or later, with nothing but its standard library
)

// origin says how a part is found and how a person gets it.
type origin struct {
	name     string
	variable string
	names    []string
	install  string
	probe    []string // arguments with which the program must exit 0
}

func (p Part) origin() origin {
	switch p {
	case Ollama:
		return origin{
			name:     "ollama",
			variable: "TOOLGYM_PART_OLLAMA",
			names:    []string{"ollama"},
			install:  "go install github.com/ollama/ollama@v0.6.5",
		}
	case Chromium:
		return origin{
			name:     "chromium",
			variable: "TOOLGYM_PART_CHROMIUM",
			names:    []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"},
			install:  "apt-get install chromium-headless-shell",
		}
	case Torch:
		return origin{
			name:     "python3-torch",
			variable: "TOOLGYM_PART_PYTHON",
			names:    []string{"/usr/bin/python3", "python3"},
			install:  "apt-get install python3-torch",
			probe:    []string{"-c", "import torch"},
		}
	case Jsonschema:
		return origin{
			name:     "python3-jsonschema",
			variable: "TOOLGYM_PART_PYTHON",
			names:    []string{"/usr/bin/python3", "python3"},
			install:  "apt-get install python3-jsonschema",
			probe:    []string{"-c", "import jsonschema"},
		}
	case Python:
		return origin{
			name:     "python3",
			variable: "TOOLGYM_PART_PYTHON",
			names:    []string{"/usr/bin/python3", "python3"},
			install:  "apt-get install python3",
			probe:    []string{"-c", "import sys; sys.exit(sys.version_info < (3, 10))"},
		}
	}
	panic(fmt.Sprintf("parts: there is no part %d", int(p)))
}

// String is the part's name as a package manager knows it.
func (p Part) String() string { return p.origin().name }

// find returns the path of the first program that works.
func (p Part) find() (string, error) {
	o := p.origin()
	names := o.names
	if own := os.Getenv(o.variable); own != "" {
		names = []string{own}
	}
	for _, name := range names {
		path, err := look(name)
		if err != nil {
			continue
		}
		if len(o.probe) == 0 || exec.Command(path, o.probe...).Run() == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s not found (looked for %v): %s, or set %s to its path", o.name, names, o.install, o.variable)
}

// look finds a program on the PATH, or where "go install" puts it.
func look(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err == nil {
		return path, nil
	}
	if filepath.Base(name) != name {
		return "", err
	}
	for _, folder := range goFolders() {
		if path, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return path, nil
		}
	}
	return "", err
}

// goFolders lists the folders that "go install" may have written to.
func goFolders() []string {
	var folders []string
	if bin := os.Getenv("GOBIN"); bin != "" {
		folders = append(folders, bin)
	}
	for _, root := range filepath.SplitList(os.Getenv("GOPATH")) {
		folders = append(folders, filepath.Join(root, "bin"))
	}
	home := "HOME"
	if runtime.GOOS == "windows" {
		home = "USERPROFILE"
	}
	return append(folders, filepath.Join(os.Getenv(home), "go", "bin"))
}
