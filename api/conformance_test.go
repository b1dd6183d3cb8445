package api_test

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestAnswersConform sends requests that seeds draw from the OpenAPI document and
// holds each answer to it. Every operation must have been answered with success
// at least once, so that the requests are known to get past the refusals.
func TestAnswersConform(t *testing.T) {
	const length = 40
	sequences := 75
	if testing.Short() {
		sequences = 15
	}
	d := newDriver(t)
	d.tour(t)
	for seed := range sequences {
		d.play(t, uint64(seed), length)
		if t.Failed() {
			t.Fatalf("with seed %d", seed)
		}
	}
	total := 0
	for _, key := range slices.Sorted(maps.Keys(d.seen)) {
		t.Logf("%5d %s", d.seen[key], key)
		total += d.seen[key]
	}
	t.Logf("%d requests", total)
	for _, op := range d.ops {
		succeeded := 0
		for key, n := range d.seen {
			if strings.HasPrefix(key, op.OperationID+" 2") {
				succeeded += n
			}
		}
		if succeeded == 0 && !testing.Short() {
			t.Errorf("%s never succeeded", op.OperationID)
		}
	}
}

// tour takes a training and an evaluation through all their states, whatever the
// speed of the machine, and asks for all that there is of them then.
func (d *driver) tour(t *testing.T) {
	t.Helper()
	ask := func(method, target, body string) answer {
		op, _ := d.doc.find(method, target)
		s := sent{op: op, method: method, target: target, body: body, header: asRoot()}
		got := d.send(t, s)
		d.judge(t, s, got)
		return got
	}
	long := ask("POST", "/v1/policy/runs", `{"stages":["0"],"updates":100000}`).header.Get("Location")
	for _, do := range []string{"POST /pause", "POST /resume", "DELETE "} {
		method, rest, _ := strings.Cut(do, " ")
		if got := ask(method, long+rest, ""); got.status >= 300 {
			t.Errorf("%s: %d %s", do, got.status, got.body)
		}
	}
	for list, body := range map[string]string{"/v1/policy/runs": `{"stages":["0"],"updates":1}`, "/v1/evals": `{"model":"oracle","route":"agent","levels":["0"],"n":1}`} {
		path := ask("POST", list, body).header.Get("Location")
		for deadline := time.Now().Add(patience); !strings.Contains(ask("GET", path, "").body, `"state":"done"`); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%s does not end", path)
			}
		}
		for _, op := range d.ops {
			rest, ok := strings.CutPrefix(op.path, list+"/{id}")
			if !ok || op.method != "GET" {
				continue
			}
			if op.OperationID == "compare-evaluations" {
				rest += "?with=" + strings.TrimPrefix(path, list+"/")
			}
			if got := ask("GET", path+rest, ""); got.status != http.StatusOK {
				t.Errorf("%s: %d %s", path+rest, got.status, got.body)
			}
		}
	}
	d.clear(t)
}

// FuzzAnswersConform is TestAnswersConform with seeds of the fuzzer's.
func FuzzAnswersConform(f *testing.F) {
	for seed := range 8 {
		f.Add([]byte(fmt.Sprint(seed)))
	}
	d := newDriver(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		hash := fnv.New64a()
		_, _ = hash.Write(data)
		d.play(t, hash.Sum64(), 25)
	})
}
