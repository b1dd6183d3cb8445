package lab_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolgym/api"
	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// keepRuns writes the folders of runs as an earlier server has left them.
func keepRuns(t *testing.T, data string, n int) (ids []string) {
	t.Helper()
	choice := train.Choice{Levels: []string{"0"}, Rules: tools.Sound, Curriculum: train.Mastery, Algorithm: train.GRPO, Pool: policy.PoolOrdered}
	config, err := train.Default(arithmetic.Spec(), choice)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id := fmt.Sprintf("R%03dAAAAAAAAAAAAAAAAAAAAAA", i)
		dir := filepath.Join(data, "policy", id)
		if err := os.MkdirAll(dir, 0o750); err != nil {
			t.Fatal(err)
		}
		state := fmt.Sprintf(`{"id":%q,"state":"done","created_at":"2026-01-01T00:00:%02d.%03dZ","config":%s}`, id, i/100, i%100, text)
		if err := os.WriteFile(filepath.Join(dir, "run.json"), []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// A server keeps up to a thousand runs; the page stays a page.
func TestManyRunsStayLight(t *testing.T) {
	data := t.TempDir()
	ids := keepRuns(t, data, 400)
	url := serve(t, api.Config{Data: data})
	page := load(t, url+"/lab/training?run="+ids[0])
	if got := len(page); got > 100_000 {
		t.Errorf("the page alone has %d bytes", got)
	}
	if got := strings.Count(page, `<li data-run=`); got != 31 {
		t.Errorf("%d runs are listed, want the newest 30 and the one that is shown", got)
	}
	for _, want := range []string{ids[399], `value="` + ids[0] + `" checked`, "and 369 older ones"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// What is taken away of one run is what the page draws of it.
func TestFilesOfOneRun(t *testing.T) {
	data := t.TempDir()
	id := keepRuns(t, data, 1)[0]
	url := serve(t, api.Config{Data: data})
	page := load(t, url+"/lab/training")
	for _, format := range []string{"svg", "png"} {
		address := "/lab/training/curves/" + format + "?run=" + id + "&bound=0.12"
		if !strings.Contains(page, strings.ReplaceAll(address, "&", "&amp;")) {
			t.Errorf("the page lacks the link %s", address)
		}
	}
	svg := load(t, url+"/lab/training/curves/svg?run="+id)
	for _, want := range []string{"Mean reward", "KL divergence", "Tool-token mass", "Success, stage 0"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the file lacks %s", want)
		}
	}
}
