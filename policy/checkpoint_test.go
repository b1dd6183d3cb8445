package policy_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy"
	"toolgym/tools"
)

// saved trains a little and saves into a folder of its own.
func saved(t testing.TB, update string) (path string, tr *trainer) {
	t.Helper()
	tr = newTrainer(t, small(update, policy.PoolOrdered), rulesOf(update), "1", 9)
	tr.train(t, 3)
	path = filepath.Join(t.TempDir(), "net.safetensors")
	if err := tr.learner.Save(path, policy.Checkpoint{Rules: rulesOf(update), Seed: 9, Progress: json.RawMessage(`{"a":1}`)}); err != nil {
		t.Fatal(err)
	}
	return path, tr
}

// TestResume trains 5 + 5 updates and 10 in one go: all numbers are the same
// to the last bit.
func TestResume(t *testing.T) {
	for _, update := range updates() {
		t.Run(update, func(t *testing.T) {
			c := small(update, policy.PoolOrdered)
			c.Compare = true
			want := newTrainer(t, c, rulesOf(update), "1", 4).train(t, 10)

			// The random source travels in the checkpoint.
			source := rand.NewPCG(4, 2)
			half := newTrainer(t, c, rulesOf(update), "1", 4)
			half.rng = rand.New(source)
			got := half.train(t, 5)
			state, err := source.MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "half.safetensors")
			if err := half.learner.Save(path, policy.Checkpoint{Random: state}); err != nil {
				t.Fatal(err)
			}
			rest := newTrainer(t, c, rulesOf(update), "1", 99)
			learner, checkpoint, err := policy.LoadLearner(path)
			if err != nil {
				t.Fatal(err)
			}
			resumed := new(rand.PCG)
			if err := resumed.UnmarshalBinary(checkpoint.Random); err != nil {
				t.Fatal(err)
			}
			rest.learner, rest.rng = learner, rand.New(resumed)
			got = append(got, rest.train(t, 5)...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("in one go (-) and resumed (+):\n%s", diff)
			}
		})
	}
}

func TestSavedNetActsTheSame(t *testing.T) {
	path, tr := saved(t, policy.UpdateA2C)
	prompts := tr.prompts(t)
	act := filepath.Join(t.TempDir(), "act.safetensors")
	if err := tr.learner.Net().Save(act, policy.Checkpoint{Rules: tools.Sound, Update: 3}); err != nil {
		t.Fatal(err)
	}
	want, err := policy.NewActor(tr.learner.Net()).Plan(prompts, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{"learner": path, "net": act} {
		t.Run(name, func(t *testing.T) {
			net, c, err := policy.LoadNet(path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := policy.NewActor(net).Plan(prompts, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("before (-) and after (+):\n%s", diff)
			}
			if c.Rules != tools.Sound || c.Update != 3 {
				t.Errorf("the sidecar says %+v", c)
			}
		})
	}
	_, _, err = policy.LoadLearner(act)
	wantRefused(t, err, "for acting only")
}

// wantRefused wants a caller's mistake that gives the reason.
func wantRefused(t *testing.T, err error, reason string) {
	t.Helper()
	var refused *tools.Error
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), reason) {
		t.Errorf("got %v, want a refusal with %q", err, reason)
	}
}

// edit changes a file.
func edit(t *testing.T, path string, change func(string) string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(change(string(content))), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestLoadRefuses(t *testing.T) {
	unchecked := func(s string) string { // leave the digest out, so that the content itself is judged
		i := strings.Index(s, `"weights":"`)
		return s[:i] + `"weights":""` + s[i+len(`"weights":""`)+64:]
	}
	nan := "\x00\x00\xc0\x7f"
	cases := map[string]struct {
		weights, sidecar func(string) string
		reason           string
	}{
		"changed weights":    {weights: func(s string) string { return s[:len(s)-1] + "x" }, reason: "do not match the sidecar"},
		"truncated weights":  {weights: func(s string) string { return s[:len(s)-9] }, sidecar: unchecked, reason: "weights"},
		"truncated header":   {weights: func(s string) string { return s[:20] }, sidecar: unchecked, reason: "weights"},
		"empty weights":      {weights: func(string) string { return "" }, sidecar: unchecked, reason: "weights"},
		"a huge header":      {weights: func(s string) string { return "\xff\xff\xff\xff\xff\xff\xff\x7f" + s[8:] }, sidecar: unchecked, reason: "weights"},
		"NaN":                {weights: func(s string) string { return s[:len(s)-4] + nan }, sidecar: unchecked, reason: "NaN"},
		"a tensor missing":   {weights: func(s string) string { return strings.Replace(s, `"pi.bias"`, `"pi.bios"`, 1) }, sidecar: unchecked, reason: "pi.bias"},
		"another type":       {weights: func(s string) string { return strings.Replace(s, `"F32"`, `"I32"`, 1) }, sidecar: unchecked, reason: "type I32"},
		"other dimensions":   {sidecar: func(s string) string { return strings.Replace(s, `"hidden":16`, `"hidden":32`, 1) }, reason: "shape"},
		"another pool":       {sidecar: func(s string) string { return strings.Replace(s, `"ordered"`, `"own"`, 1) }, reason: "no other tensors"},
		"zero width":         {sidecar: func(s string) string { return strings.Replace(s, `"hidden":16`, `"hidden":0`, 1) }, reason: "hidden"},
		"no JSON":            {sidecar: func(string) string { return "{" }, reason: "sidecar"},
		"an unknown field":   {sidecar: func(s string) string { return strings.Replace(s, `"seed"`, `"sead"`, 1) }, reason: "sead"},
		"something behind":   {sidecar: func(s string) string { return s + "{}" }, reason: "more data after the JSON value"},
		"negative update":    {sidecar: func(s string) string { return strings.Replace(s, `"update":3`, `"update":-3`, 1) }, reason: "-3 updates"},
		"optimizer cut off":  {sidecar: func(s string) string { return strings.Replace(s, `"mean":"`, `"mean":"","square":"`, 1) }, reason: "optimizer/mean"},
		"no starting policy": {sidecar: func(s string) string { return strings.Replace(s, `"start":"`, `"start":"","progress":"`, 1) }, reason: "start"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path, _ := saved(t, policy.UpdateGRPO)
			if c.weights != nil {
				edit(t, path, c.weights)
			}
			if c.sidecar != nil {
				edit(t, strings.TrimSuffix(path, ".safetensors")+".json", c.sidecar)
			}
			_, _, err := policy.LoadLearner(path)
			wantRefused(t, err, c.reason)
		})
	}
}

func TestLoadMissing(t *testing.T) {
	_, _, err := policy.LoadNet(filepath.Join(t.TempDir(), "none.safetensors"))
	wantRefused(t, err, "no such file")
	path, _ := saved(t, policy.UpdateA2C)
	if err := os.Remove(strings.TrimSuffix(path, ".safetensors") + ".json"); err != nil {
		t.Fatal(err)
	}
	_, _, err = policy.LoadNet(path)
	wantRefused(t, err, "net.json: no such file")
}

func FuzzDecodeNet(f *testing.F) {
	path, _ := saved(f, policy.UpdateA2C)
	weights, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	config, err := json.Marshal(policy.Checkpoint{Config: small(policy.UpdateA2C, policy.PoolOrdered)})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(weights, config)
	f.Add(weights[:8], []byte(`{}`))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"), config)
	f.Add([]byte("\xff\xff\xff\xff\xff\xff\xff\xff{}"), config)
	f.Fuzz(func(t *testing.T, weights, sidecar []byte) {
		net, _, err := policy.DecodeNet(weights, sidecar)
		if (net == nil) == (err == nil) {
			t.Errorf("got %v, %v", net, err)
		}
	})
}
