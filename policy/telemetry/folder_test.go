package telemetry

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy"
	"toolgym/tools"
)

// record is an update of stages 0 and 1, the second without a task.
func record(update int) Record {
	success, kl := 0.5, 0.125
	return Record{
		Metrics: policy.Metrics{Update: update, Reward: 0.5, PolicyLoss: -0.25, Entropy: 2, GradNorm: 1, KL: &kl},
		Stages:  []string{"0", "1"}, Success: []*float64{&success, nil},
	}
}

func written(t *testing.T, dir string, from, to int) {
	t.Helper()
	f, err := Open(dir, from, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for update := from + 1; update <= to; update++ {
		if err := f.Write(record(update)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFolderGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "run")
	written(t, dir, 0, 5)
	written(t, dir, 3, 6) // updates 4 and 5 happen again
	records, err := Read(filepath.Join(dir, "telemetry.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var want []Record
	for update := range 6 {
		want = append(want, record(update+1))
	}
	if diff := cmp.Diff(want, records); diff != "" {
		t.Errorf("want (-) and kept (+):\n%s", diff)
	}
}

func TestFolderDraws(t *testing.T) {
	dir := t.TempDir()
	written(t, dir, 0, 700) // more than a curve has points
	content, err := os.ReadFile(filepath.Join(dir, "curves.png"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(content)); err != nil {
		t.Error(err)
	}
	content, err = os.ReadFile(filepath.Join(dir, "curves.svg"))
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, content)
}

func wellFormed(t *testing.T, content []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(content)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCurves has a panel for every measure of the training page, with its unit.
func TestCurves(t *testing.T) {
	short := record(3)
	short.Success = nil // of another program
	apart := record(1)
	apart.KL = nil
	for name, c := range map[string]struct {
		records []Record
		says    []string
		silent  string
	}{
		"a run": {[]Record{record(1), record(2)}, []string{
			"Mean reward", "reward per plan", "Success of sampled plans", "fraction of plans", "stage 0", "stage 1", "KL divergence from the initial policy", "nats per token",
			"Tool-token mass", "probability", "Entropy", "Gradient norm, before clipping", "L2 norm", "update",
		}, "not measured"},
		"one update":               {[]Record{record(1)}, []string{"Tool-token mass"}, "not measured"},
		"nothing":                  {nil, []string{"Mean reward: not measured"}, "stage 0"},
		"no start to compare with": {[]Record{apart}, []string{"KL divergence from the initial policy: not measured"}, "reward: not"},
		"a record without success": {[]Record{record(1), record(2), short}, []string{"stage 0"}, "not measured"},
	} {
		t.Run(name, func(t *testing.T) {
			content, err := Curves(c.records, "svg")
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, content)
			for _, text := range c.says {
				if !strings.Contains(string(content), ">"+text+"<") {
					t.Errorf("the drawing does not say %q", text)
				}
			}
			if strings.Contains(string(content), c.silent) || strings.Contains(string(content), "NaN") {
				t.Errorf("the drawing says %q, or NaN", c.silent)
			}
		})
	}
}

// TestPick thins a curve to means over neighbours; its last point is that of the
// last update.
func TestPick(t *testing.T) {
	var records []Record
	for update := range 1000 {
		r := record(update + 1)
		r.Reward = float64(update)
		records = append(records, r)
	}
	line := pick("reward", records, func(r Record) *float64 { return &r.Reward })
	if n := len(line.X); n != 250 || len(line.Y) != n || line.X[n-1] != 1000 || line.Y[0] != 1.5 || line.Y[n-1] != 997.5 {
		t.Errorf("%d points from %v, %v to %v, %v", len(line.X), line.X[0], line.Y[0], line.X[len(line.X)-1], line.Y[len(line.Y)-1])
	}
}

func TestOpenRefusesAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, 0, time.Now)
	var refused *tools.Error
	if !errors.As(err, &refused) || refused.Code != tools.Invalid || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func TestRead(t *testing.T) {
	cases := map[string]struct {
		content string
		records int
		fails   bool
	}{
		"nothing":                     {},
		"a last line that is cut off": {content: "{\"update\":1}\n{\"upda", records: 1},
		"a line that is no record":    {content: "{\"update\":1}\nhello\n", fails: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "telemetry.jsonl")
			if err := os.WriteFile(path, []byte(c.content), 0o644); err != nil {
				t.Fatal(err)
			}
			records, err := Read(path)
			if (err != nil) != c.fails || len(records) != c.records {
				t.Errorf("%d records, %v", len(records), err)
			}
		})
	}
}

func TestCurvesRefusesFormats(t *testing.T) {
	_, err := Curves([]Record{record(1)}, "gif")
	var refused *tools.Error
	if !errors.As(err, &refused) || refused.Want != "svg or png" {
		t.Errorf("got %v", err)
	}
}

func TestChart(t *testing.T) {
	var records []Record
	for update := range 100 {
		r := record(update + 1)
		rise := float64(update) / 99
		r.Success = []*float64{&rise, nil}
		records = append(records, r)
	}
	chart := Chart(records)
	for _, text := range []string{"1.00", "0.00", "100", "stage 0: success"} {
		if !strings.Contains(chart, text) {
			t.Errorf("the chart does not say %q:\n%s", text, chart)
		}
	}
	if strings.Contains(chart, "stage 1") || strings.Contains(chart, "\x1b") {
		t.Errorf("a curve of nothing, or colours:\n%s", chart)
	}
}
