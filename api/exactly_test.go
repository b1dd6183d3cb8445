package api_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"toolgym/api"
	"toolgym/tools"
)

// TestTwoClientsOnOneEpisode lets many clients call at once. No step may be
// lost or made twice: the sums that they are told are all different.
func TestTwoClientsOnOneEpisode(t *testing.T) {
	const clients, calls = 8, 25
	f := serve(t, api.Config{})
	episode := f.begin("tally/endless/1")
	told := make(chan string, clients*calls)
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range calls {
				told <- f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":1}}`).body
			}
		})
	}
	wg.Wait()
	close(told)
	seen := map[string]bool{}
	for body := range told {
		seen[body] = true
	}
	for n := 1; n <= clients*calls; n++ {
		want := fmt.Sprintf(`{"result":{"content":{"sum":%d},"is_error":false},"reward":-0.1,"terminated":false,"truncated":false,"step":%d}`+"\n", n, n)
		if !seen[want] {
			t.Fatalf("nobody was told %s", want)
		}
	}
}

// TestOneRequestIDAtOnce sends the same call many times at once, as a client
// that has lost patience does.
func TestOneRequestIDAtOnce(t *testing.T) {
	f := serve(t, api.Config{})
	episode := f.begin("tally/0/9")
	answers := make([]answer, 16)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() {
			answers[i] = f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":9},"request_id":"one"}`)
		})
	}
	wg.Wait()
	for _, got := range answers {
		if got.status != http.StatusOK || got.body != answers[0].body {
			t.Errorf("%d %s, want %s", got.status, got.body, answers[0].body)
		}
	}
	if state := f.ask("GET", episode, ""); !strings.Contains(state.body, `"step":1,`) {
		t.Errorf("more than one step: %s", state.body)
	}
}

// TestHangingUpLosesNoStep has a client that goes away while its call runs: the
// step is made, and the request id tells what came of it.
func TestHangingUpLosesNoStep(t *testing.T) {
	faults := &tallyFaults{entered: make(chan struct{}), release: make(chan struct{})}
	f := serve(t, api.Config{Specs: tools.Specs{tallySpec(faults)}})
	episode := f.begin("tally/0/9")
	call := `{"name":"break","arguments":{"how":"wait"},"request_id":"one"}`
	ctx, hangUp := context.WithCancel(t.Context())
	go func() {
		<-faults.entered
		hangUp()
	}()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.url+episode+"/calls", strings.NewReader(call))
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultClient.Do(r); err == nil {
		response.Body.Close()
		t.Fatal("the client did not hang up")
	}
	close(faults.release)
	got := f.ask("POST", episode+"/calls", call)
	want := `{"result":{"content":{"sum":0},"is_error":false},"reward":-0.1,"terminated":false,"truncated":false,"step":1}` + "\n"
	if got.body != want {
		t.Errorf("%d %s, want %s", got.status, got.body, want)
	}
}

// TestWaitingForATurnEnds holds an episode in the middle of a step, beyond the
// time that a call may take. The call that waits behind it is told so; reading
// and listing go on.
func TestWaitingForATurnEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		faults := &tallyFaults{entered: make(chan struct{}), release: make(chan struct{})}
		f := unplugged(t, api.Config{Specs: tools.Specs{tallySpec(faults)}})
		episode := f.begin("tally/0/9")
		held := make(chan answer)
		go func() {
			held <- f.ask("POST", episode+"/calls", `{"name":"break","arguments":{"how":"wait"}}`)
		}()
		<-faults.entered
		if got := f.ask("POST", episode+"/calls", `{"name":"done"}`); got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") != "1" {
			t.Errorf("%d %s", got.status, got.body)
		}
		for _, path := range []string{episode, "/v1/episodes", "/healthz"} {
			if got := f.ask("GET", path, ""); got.status != http.StatusOK {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
		synctest.Wait() // the time of the call that is held is over at the same moment
		close(faults.release)
		if got := <-held; got.status != http.StatusServiceUnavailable {
			t.Errorf("the call that took too long: %d %s", got.status, got.body)
		}
		got := f.ask("POST", episode+"/calls", `{"name":"add","arguments":{"n":9}}`)
		if !strings.Contains(got.body, `"sum":9`) || !strings.Contains(got.body, `"step":1`) {
			t.Errorf("afterwards: %d %s", got.status, got.body)
		}
	})
}
