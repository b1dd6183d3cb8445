package lab_test

import (
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/internal/parts"
)

func TestScriptPage(t *testing.T) {
	b := open(t, api.Config{})
	b.visit("/lab/script")
	b.looks("script", nil)
	b.set("#completion", "2.5")
	b.set("#model", `me/"my" model`)
	b.until(`document.getElementById("python").textContent.includes("me/\\\"my\\\" model") || document.getElementById("python").textContent.includes("'me/\"my\" model'")`)
	shown := eval[string](b, `document.getElementById("python").textContent`)
	if !strings.Contains(shown, "2.5") {
		t.Errorf("the weight is not in the script:\n%s", shown)
	}
	if file := load(t, b.url+eval[string](b, `document.querySelector("a[download]").getAttribute("href")`)); file != shown {
		t.Errorf("the file is not what is shown:\n%s", file)
	}
	b.set("#learning_rate", "0")
	b.until(`document.querySelector("#result .wrong")?.textContent.includes("learning_rate")`)
	b.set("#env", "gridworld")
	b.until(`document.querySelector("#level")?.options.length === 5 && document.documentElement.dataset.ready === "true"`)
}

// TestScriptFile compiles what the address gives.
func TestScriptFile(t *testing.T) {
	python := parts.Need(t, parts.Python)
	address := serve(t, api.Config{})
	query := url.Values{"env": {"research"}, "level": {"1"}, "format": {"-0.5"}, "lora": {"off"}, "lora_r": {"3"}, "model": {"a'b\\\n"}}
	got := ask(t, http.MethodGet, address+"/lab/script/train_toolgym.py?"+query.Encode(), "")
	if got.status != http.StatusOK || !strings.HasPrefix(got.header.Get("Content-Type"), "text/x-python") || !strings.Contains(got.text, address) {
		t.Fatalf("%d %v\n%s", got.status, got.header, got.text)
	}
	compile := exec.CommandContext(t.Context(), python, "-c", "import sys; compile(sys.stdin.read(), 'script', 'exec')")
	compile.Stdin = strings.NewReader(got.text)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestScriptRefusals(t *testing.T) {
	address := serve(t, api.Config{})
	for name, c := range map[string]struct{ query, want string }{
		"an unknown setting":   {"colour=red", "there is no setting"},
		"an unknown level":     {"env=research&level=9", "has no level"},
		"a number that is not": {"tasks=many", "is no number that fits"},
		"a server with a name": {"server=http://me:pw@host", "the URL has credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			got := ask(t, http.MethodGet, address+"/lab/script/train_toolgym.py?"+c.query, "")
			if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.text, c.want) {
				t.Errorf("%d %s", got.status, got.text)
			}
		})
	}
}
