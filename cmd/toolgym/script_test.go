package main

import (
	"flag"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what commands print into the scripts that compare it")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"toolgym": main,
	})
}

// TestScripts runs the command line as a user would; each script says what it
// shows. Exit codes are checked by: exits CODE toolgym …. Between "ollama" and
// "! ollama", a server with the models of [scripted] stands at $OLLAMA.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "ollama": ollama},
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_DATA_HOME", env.WorkDir+"/data")
			env.Values[ollamaKey] = new(*scripted)
			return nil
		},
	})
}
