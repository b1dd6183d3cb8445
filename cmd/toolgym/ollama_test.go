package main

import "github.com/rogpeppe/go-internal/testscript"

// ollamaKey is where a script keeps its server.
const ollamaKey = "ollama"

// ollama starts a scripted server for the script, at $OLLAMA; "! ollama" stops
// it.
func ollama(ts *testscript.TestScript, neg bool, args []string) {
	kept := ts.Value(ollamaKey).(**scripted)
	switch {
	case len(args) > 0 || neg != (*kept != nil):
		ts.Fatalf("usage: ollama, and then ! ollama")
	case neg:
		(*kept).Close()
		*kept = nil
	default:
		server := newScripted()
		*kept = server
		ts.Defer(server.Close)
		ts.Setenv("OLLAMA", server.URL)
	}
}
