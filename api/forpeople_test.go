package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// Whoever looks at pages gets pages, also of what is not there; programs get
// problem documents.
func TestRefusalsAreForTheirReaders(t *testing.T) {
	f := serve(t, api.Config{Specs: tools.Specs{arithmetic.Spec()}})
	for name, test := range map[string]struct {
		path, accept string
		status       int
		page         bool
	}{
		"no such page":                 {"/lab/nothing", asPage, http.StatusNotFound, true},
		"no such page, to a program":   {"/lab/nothing", "Accept: application/json", http.StatusNotFound, false},
		"no such page, to curl":        {"/lab/nothing", "Accept: */*", http.StatusNotFound, false},
		"no such resource":             {"/v1/nothing", asPage, http.StatusNotFound, false},
		"a setting out of its range":   {"/?format=99", asPage, http.StatusUnprocessableEntity, true},
		"the same, to a page's script": {"/?format=99", "Accept: application/problem+json, text/html", http.StatusUnprocessableEntity, false},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.ask("GET", test.path, "", test.accept)
			kind, isPage := got.header.Get("Content-Type"), strings.Contains(got.body, `<a href="/">Back to the lab</a>`)
			if got.status != test.status || isPage != test.page || strings.HasPrefix(kind, "text/html") != test.page {
				t.Errorf("%d %s\n%s", got.status, kind, got.body)
			}
		})
	}
}

// Who is not signed in is not offered to sign out.
func TestSignInOffersNoSignOut(t *testing.T) {
	f := guarded(t, api.Config{Specs: tools.Specs{arithmetic.Spec()}})
	if got := f.ask("GET", "/lab/signin", "", asPage); got.status != http.StatusOK || strings.Contains(got.body, "Sign out") {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// Where the server keeps its files is no business of those who watch.
func TestFailedRunTellsNoPaths(t *testing.T) {
	dir := t.TempDir()
	f := trainer(t, api.Config{Data: dir})
	path := f.startRun(`{"algo":"grpo","stages":["0"],"seed":1,"updates":1000000}`)
	_, id, _ := strings.Cut(path, "/v1/policy/runs/")
	folder := filepath.Join(dir, "policy", id)
	f.watch(path, "", func(e event) bool { return e.id == "1" })
	if err := os.Rename(folder, folder+".gone"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	all := f.watch(path, "1", toTheEnd)
	last := all[len(all)-1].data
	if !strings.Contains(last, `"state":"failed"`) || strings.Contains(last, dir) || !strings.Contains(last, "its log says why") {
		t.Error(last)
	}
	if got := f.ask("GET", "/lab/training", "", asPage); strings.Contains(got.body, dir) || !strings.Contains(got.body, "its log says why") {
		t.Error("the page tells of the server's folders, or not of the failure")
	}
}
