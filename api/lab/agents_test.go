package lab_test

import (
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"toolgym/api"
	"toolgym/internal/testkit"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

// TestAgentsComeLater, where they take long: the page is there at once, and they
// when they have played.
func TestAgentsComeLater(t *testing.T) {
	spec, shut := testkit.WithGate(arithmetic.Spec())
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	t.Cleanup(serveOn(t, listener, api.Config{Specs: tools.Specs{spec}, Logger: slog.New(slog.DiscardHandler), Data: t.TempDir()}))
	if got := ask(t, http.MethodPost, url+"/v1/evals", `{"run":"x","model":"random","route":"agent","levels":["0"],"n":2}`, sendsJSON); got.status != http.StatusCreated {
		t.Fatalf("%+v", got)
	}
	for !strings.Contains(load(t, url+"/v1/evals/x"), `"state":"done"`) {
		time.Sleep(10 * time.Millisecond)
	}
	release := shut()
	b := openAt(t, url)
	b.visit("/lab/evaluations/x")
	if got := b.text("#agents"); !strings.Contains(got, "takes a while") || !strings.Contains(b.text("main"), "arithmetic/0") {
		t.Errorf("the page says %s", b.text("main"))
	}
	if csv := load(t, url+"/v1/evals/x/report?format=csv"); !strings.Contains(csv, "arithmetic/0/0") {
		t.Errorf("the file of trials waits, or is %s", csv)
	}
	release()
	b.until(`document.querySelector("#agents table")?.innerText.includes("trained policy")`)
	if got := b.text("#agents"); strings.Contains(got, "takes a while") {
		t.Error(got)
	}
}
