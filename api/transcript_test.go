package api_test

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"toolgym/api"
	"toolgym/internal/strictjson"
	"toolgym/internal/testkit"
)

var update = flag.Bool("update", false, "write what the server answers into the transcripts")

// TestTranscripts plays the archives of testdata/transcripts. In each, prose
// comes first; then a file whose name is a request ("POST /v1/episodes") and
// whose text is its body, and a file whose name is the status and whose text is
// the answer, in turn. "WAIT 31m" moves the clock. Over MCP the session that was
// begun last is gone on with. Every answer must also be
// one that the OpenAPI document describes.
func TestTranscripts(t *testing.T) {
	names, err := filepath.Glob("testdata/transcripts/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) { playTranscript(t, name) })
	}
}

func playTranscript(t *testing.T, name string) {
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := serve(t, api.Config{MaxEpisodes: 4})
	doc := readContract(t, f)
	played := &txtar.Archive{Comment: archive.Comment}
	asked, session := 0, ""
	for _, file := range archive.Files {
		method, path, isRequest := strings.Cut(file.Name, " ")
		if !isRequest {
			continue // an answer of last time
		}
		played.Files = append(played.Files, file)
		if method == "WAIT" {
			d, err := time.ParseDuration(path)
			if err != nil {
				t.Fatal(err)
			}
			f.wait(d)
			continue
		}
		asked++
		headers := []string{fmt.Sprintf("X-Request-Id: t%d", asked)}
		if strings.HasPrefix(path, "/mcp") {
			headers = append(headers, "Accept: application/json, text/event-stream")
		}
		if session != "" {
			headers = append(headers, "Mcp-Session-Id: "+session)
		}
		got := f.ask(method, path, strings.TrimSpace(string(file.Data)), headers...)
		session = cmp.Or(got.header.Get("Mcp-Session-Id"), session)
		doc.check(t, method, path, got)
		played.Files = append(played.Files, txtar.File{Name: fmt.Sprint(got.status), Data: shown(t, got)})
	}
	testkit.Golden(t, name, string(txtar.Format(played)), *update)
}

// shown is an answer as the transcript keeps it: the headers that matter, and
// the body with a line for each field.
func shown(t *testing.T, got answer) []byte {
	var b bytes.Buffer
	for _, name := range []string{"Location", "Allow", "Retry-After", "Mcp-Session-Id"} {
		if value := got.header.Get(name); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	if got.body == "" || got.body[0] != '{' {
		return append(b.Bytes(), got.body...)
	}
	members, _, err := strictjson.Defaults().Object(got.body)
	if err != nil {
		t.Fatalf("%v in %s", err, got.body)
	}
	b.WriteString("{\n")
	for _, m := range members {
		fmt.Fprintf(&b, " %q: %s\n", m.Key, got.body[m.Start:m.End])
	}
	b.WriteString("}\n")
	return b.Bytes()
}
