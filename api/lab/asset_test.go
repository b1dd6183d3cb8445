package lab_test

import (
	"regexp"
	"testing"

	"toolgym/api"
)

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
