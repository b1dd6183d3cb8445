package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestDeploymentStarts parses the command lines of the unit and of the image:
// flags that are renamed break a test, not somebody's server.
func TestDeploymentStarts(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile("../../examples/deploy/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	_, unit, _ := strings.Cut(read("toolgym.service"), "ExecStart=/usr/local/bin/toolgym ")
	unit, _, _ = strings.Cut(unit, "\n")
	_, image, _ := strings.Cut(read("Dockerfile"), `ENTRYPOINT ["/toolgym", `)
	image, _, _ = strings.Cut(image, "]")
	lines := map[string][]string{
		"unit":  strings.Fields(unit),
		"image": strings.Fields(strings.NewReplacer(`"`, "", ",", "").Replace(image)),
	}
	for name, args := range lines {
		t.Run(name, func(t *testing.T) {
			parser, err := kong.New(&commandLine{}, kong.Exit(func(int) { t.Error("it exits") }))
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := parser.Parse(args)
			if err != nil || parsed.Command() != "serve" {
				t.Errorf("toolgym %s: %v", strings.Join(args, " "), err)
			}
		})
	}
	for _, setting := range []string{"TOOLGYM_ADDR", "TOOLGYM_ALLOW_HOST", "TOOLGYM_TOKEN_FILE", "TOOLGYM_TLS_CERT", "TOOLGYM_TLS_KEY"} {
		if !strings.Contains(read("toolgym.service"), setting+"=") {
			t.Errorf("the unit does not show %s", setting)
		}
	}
	if verify, err := exec.LookPath("systemd-analyze"); err == nil {
		out, _ := exec.Command(verify, "verify", "../../examples/deploy/toolgym.service").CombinedOutput()
		if strings.Contains(string(out), "Unknown key") || strings.Contains(string(out), "Failed to parse") {
			t.Errorf("%s", out)
		}
	}
}
