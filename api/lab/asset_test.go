package lab_test

import (
	"io"
	"net/http"
	"regexp"
	"testing"

	"toolgym/api"
)

// load fetches a page or a file as text.
func load(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s\n%s", address, answer.Status, text)
	}
	return string(text)
}

// TestSharedScriptRunsOnce holds the pages' scripts to the address by which the
// frame loads what they share.
func TestSharedScriptRunsOnce(t *testing.T) {
	server := serve(t, api.Config{})
	shared := regexp.MustCompile(`/lab/static/(lab\.js\?v=\w+)`).FindStringSubmatch(load(t, server+"/"))
	if shared == nil {
		t.Fatal("the page does not load lab.js")
	}
	for _, script := range regexp.MustCompile(`/lab/static/\w+\.js\?v=\w+`).FindAllString(load(t, server+"/"), -1) {
		for _, imported := range regexp.MustCompile(`from "\./(lab\.js[^"]*)"`).FindAllStringSubmatch(load(t, server+script), -1) {
			if imported[1] != shared[1] {
				t.Errorf("%s imports %s, the frame loads %s", script, imported[1], shared[1])
			}
		}
	}
}
