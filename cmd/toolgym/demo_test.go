package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"toolgym/internal/ollamatest"
)

// TestDemoWithARealModel lets the tiny model take part beside the agents: it
// solves some tasks, and not all of them.
func TestDemoWithARealModel(t *testing.T) {
	server := ollamatest.Start(t)
	var out bytes.Buffer
	code := run(t.Context(), []string{"demo", "--ollama", server.URL, "--model", ollamatest.Tools}, strings.NewReader(""), &out, io.Discard)
	row := regexp.MustCompile(`(?m)^` + ollamatest.Tools + ` +(\d+) +\S+ +\S+ +0\.[1-9]\d `)
	if code != exitDone || !row.MatchString(out.String()) {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}

func TestDemoRefusesHalfAModel(t *testing.T) {
	tests := []struct {
		name string
		args []string
		code int
		want string
	}{
		{"server without model", []string{"--ollama", "http://127.0.0.1:1"}, exitUsage, "both --ollama and --model"},
		{"model without server", []string{"--model", "m"}, exitUsage, "both --ollama and --model"},
		{"nobody answers", []string{"--ollama", "http://127.0.0.1:1", "--model", "m"}, exitOutside, "ollama serve"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var errOut bytes.Buffer
			code := run(t.Context(), append([]string{"demo"}, test.args...), strings.NewReader(""), io.Discard, &errOut)
			if code != test.code || !strings.Contains(errOut.String(), test.want) {
				t.Errorf("exit code %d, %q", code, errOut.String())
			}
		})
	}
}
