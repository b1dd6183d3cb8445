package lab_test

import (
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/internal/parts"
)

// get fetches an address as a program does.
func get(t *testing.T, address string) (int, http.Header, string) {
	t.Helper()
	response, err := http.Get(address) //nolint:noctx // of a server that ends with the test
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}

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
	if _, _, file := get(t, b.url+eval[string](b, `document.querySelector("a[download]").getAttribute("href")`)); file != shown {
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
	status, header, text := get(t, address+"/lab/script/train_toolgym.py?"+query.Encode())
	if status != http.StatusOK || !strings.HasPrefix(header.Get("Content-Type"), "text/x-python") || !strings.Contains(text, address) {
		t.Fatalf("%d %v\n%s", status, header, text)
	}
	compile := exec.CommandContext(t.Context(), python, "-c", "import sys; compile(sys.stdin.read(), 'script', 'exec')")
	compile.Stdin = strings.NewReader(text)
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
		"a server with a name": {"server=http://me:pw@host", "name or a password"},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, text := get(t, address+"/lab/script/train_toolgym.py?"+c.query)
			if status != http.StatusUnprocessableEntity || !strings.Contains(text, c.want) {
				t.Errorf("%d %s", status, text)
			}
		})
	}
}
