package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestDamagedRunsOfAnEarlierServer starts servers on the files of a run that
// something has damaged. The server starts, and every question about the run
// gets an answer of the document: the run is not known, or what cannot be done
// with it is refused, without a path of the machine.
func TestDamagedRunsOfAnEarlierServer(t *testing.T) {
	data := t.TempDir()
	config := api.Config{Data: data, Specs: tools.Specs{arithmetic.Spec()}}
	f := serve(t, config)
	path := f.startRun(`{"stages":["0"],"updates":1000000}`)
	f.watch(path, "", func(event) bool { return true })
	if err := f.server.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	id := filepath.Base(path)
	replace := func(old, with string) func(string) string {
		return func(text string) string {
			if !strings.Contains(text, old) {
				t.Errorf("there is no %s in %.300s", old, text)
			}
			return strings.Replace(text, old, with, 1)
		}
	}
	constant := func(text string) func(string) string { return func(string) string { return text } }
	half := func(text string) string { return text[:len(text)/2] }
	for name, test := range map[string]struct {
		file  string
		spoil func(string) string
	}{
		"untouched":                      {"run.json", func(text string) string { return text }},
		"a state cut off":                {"run.json", half},
		"an empty state":                 {"run.json", constant("")},
		"a state of zeros":               {"run.json", constant(strings.Repeat("\x00", 500))},
		"a state without fields":         {"run.json", constant(`{"id":"` + id + `"}`)},
		"a state that there is not":      {"run.json", replace(`"paused"`, `"asleep"`)},
		"an id of elsewhere":             {"run.json", replace(id, "../../x")},
		"updates below zero":             {"run.json", replace(`"updates": `, `"updates": -`)},
		"an environment that is not":     {"run.json", replace(`"arithmetic"`, `"nowhere"`)},
		"telemetry cut off":              {"telemetry.jsonl", half},
		"telemetry of zeros":             {"telemetry.jsonl", constant(strings.Repeat("\x00", 500))},
		"telemetry that is no telemetry": {"telemetry.jsonl", constant("[]\n{}\n")},
		"weights cut off":                {"policy.safetensors", half},
		"weights with a huge header":     {"policy.safetensors", func(text string) string { return "\xff\xff\xff\xff\xff\xff\xff\x7f" + text[8:] }},
		"weights of zeros":               {"policy.safetensors", func(text string) string { return strings.Repeat("\x00", len(text)) }},
		"no weights":                     {"policy.safetensors", constant("")},
		"a checkpoint's description off": {"policy.json", half},
		"another environment's policy":   {"policy.json", replace(`"arithmetic"`, `"nowhere"`)},
	} {
		t.Run(name, func(t *testing.T) {
			config.Data = t.TempDir()
			if err := os.CopyFS(config.Data, os.DirFS(data)); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(config.Data, "policy", id, test.file)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(test.spoil(string(text))), 0o600); err != nil {
				t.Fatal(err)
			}
			f := serve(t, config)
			doc := readContract(t, f)
			for _, ask := range []string{"GET /v1/policy/runs", "GET " + path, "GET " + path + "/events", "GET " + path + "/telemetry.csv", "GET " + path + "/plot.svg",
				"GET " + path + "/export.tar", "POST /v1/policy/act", "POST " + path + "/pause", "POST " + path + "/resume", "GET " + path, "DELETE " + path, "DELETE " + path, "GET /v1/policy/runs"} {
				method, target, _ := strings.Cut(ask, " ")
				body := ""
				if strings.HasSuffix(target, "/act") {
					body = `{"task_id":"arithmetic/0/17","run":"` + id + `"}`
				}
				got := f.ask(method, target, body)
				doc.check(t, method, target, got)
				if got.status >= 500 || got.status >= 400 && strings.Contains(got.body, config.Data) {
					t.Errorf("%s: %d %.400s", ask, got.status, got.body)
				}
				if name == "untouched" && got.status >= 300 && !strings.HasSuffix(target, "/pause") {
					t.Errorf("%s: %d %.400s", ask, got.status, got.body)
				}
			}
			if strings.Contains(f.logged(), "level=ERROR") {
				t.Errorf("logged: %s", f.logged())
			}
		})
	}
}
