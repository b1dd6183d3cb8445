package main

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfigurationIsCheckedFirst gives commands flags that cannot work. None of
// them may make the directory that it would write to, and toolgym serve, whose
// address is in use, must not have tried to listen there.
func TestConfigurationIsCheckedFirst(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	text := filepath.Join(t.TempDir(), "text") // is no certificate, key, checkpoint, rubric, library or token
	if err := os.WriteFile(text, []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const missing = "no such file"
	at := "--addr=" + taken.Addr().String()
	tests := []struct {
		name string
		args []string // OUT stands for the directory, TEXT for the file
		want string   // in the message
	}{
		{"serve, a certificate alone", []string{"serve", at, "--tls-cert", "nothing"}, "--tls-key: missing for nothing; expected a certificate and its key"},
		{"serve, a key alone", []string{"serve", at, "--tls-key", "nothing"}, "--tls-cert: missing for nothing; expected a certificate and its key"},
		{"serve, no certificate", []string{"serve", at, "--tls-cert", "TEXT", "--tls-key", "TEXT"}, "--tls-cert: "},
		{"serve, no token file", []string{"serve", at, "--token-file", "nothing"}, missing},
		{"serve, no token", []string{"serve", at, "--token-file", "TEXT"}, "line 1"},
		{"serve, no rubric file", []string{"serve", at, "--rubric", "nothing"}, missing},
		{"serve, no rubric", []string{"serve", at, "--rubric", "TEXT"}, text},
		{"serve, no library file", []string{"serve", at, "--skills", "nothing"}, missing},
		{"serve, no library", []string{"serve", at, "--skills", "TEXT"}, text},
		{"serve, no checkpoint file", []string{"serve", at, "--checkpoint", "nothing"}, "--checkpoint: "},
		{"serve, no checkpoint", []string{"serve", at, "--checkpoint", "TEXT"}, "--checkpoint: "},
		{"serve, no host", []string{"serve", at, "--allow-host", "http://gym.example"}, "--allow-host: "},
		{"serve, no address of Ollama", []string{"serve", at, "--ollama", "localhost"}, "--ollama: "},
		{"serve, no address", []string{"serve", "--addr", "nonsense"}, "--addr: "},
		{"serve, an address for all", []string{"serve", "--addr", "0.0.0.0:0"}, "--addr: 0.0.0.0:0 can be reached"},
		{"serve, any address", []string{"serve", "--addr", ":0"}, "--addr: :0 can be reached"},
		{"eval, no model", []string{"eval"}, "--model: "},
		{"eval, no such level", []string{"eval", "--model", "m", "--level", "99"}, "level"},
		{"eval, no such environment", []string{"eval", "--model", "m", "--env", "chess"}, "chess"},
		{"eval, no suite", []string{"eval", "--model", "m", "--suite", "TEXT"}, "lines cannot be used"},
		{"eval, too many trials", []string{"eval", "--model", "m", "--trials", "1000000"}, "--trials: "},
		{"eval, no address of a server", []string{"eval", "--model", "m", "--ollama", "nonsense"}, "--ollama: "},
		{"runs rescore, no rubric", []string{"runs", "rescore", "r", "--rubric", "TEXT"}, text},
		{"train, no such stage", []string{"train", "--stages", "9"}, "--stages: "},
		{"train, no share", []string{"train", "--hold-out", "2"}, "--hold-out: "},
		{"train, nothing to go on with", []string{"train", "--resume", "OUT"}, "OUT"},
		{"skills learn, no such level", []string{"skills", "learn", "--level", "9", "--out", "OUT"}, "level"},
		{"skills learn, no such level of arithmetic", []string{"skills", "learn", "--env", "arithmetic", "--level", "9", "--out", "OUT"}, "level"},
		{"skills learn, no episodes", []string{"skills", "learn", "--episodes=-1", "--out", "OUT"}, "episodes"},
		{"skills learn, no episodes of arithmetic", []string{"skills", "learn", "--env", "arithmetic", "--episodes=-1", "--out", "OUT"}, "--episodes: "},
		{"skills extract, no trajectories", []string{"skills", "extract", "TEXT", "--out", "OUT"}, "trajectory 1"},
		{"token, no role", []string{"token", "ann", "king", "--file", "OUT"}, "king"},
		{"export trl, no tasks", []string{"export", "trl", "--tasks=-1", "-o", "OUT"}, "--tasks: "},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			fill := strings.NewReplacer("OUT", out, "TEXT", text)
			args := []string{"--data", out}
			for _, arg := range test.args {
				args = append(args, fill.Replace(arg))
			}
			var errOut bytes.Buffer
			code := run(t.Context(), args, strings.NewReader(""), io.Discard, &errOut)
			if code != exitUsage || !strings.Contains(errOut.String(), fill.Replace(test.want)) || strings.Count(errOut.String(), "\n") != 1 {
				t.Errorf("exit code %d, %q; want %d and one line with %q", code, errOut.String(), exitUsage, fill.Replace(test.want))
			}
			if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it made %s (%v)", out, err)
			}
		})
	}
}

// TestFilesOfFlagsAreBounded reads files up to a limit, and no further.
func TestFilesOfFlagsAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for size, fits := range map[int]bool{0: true, 10: true, 11: false, 1000: false} {
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		text, err := readUpTo(path, 10)
		if (err == nil) != fits || len(text) > 11 || fits && len(text) != size {
			t.Errorf("a file of %d bytes: got %d bytes, error %v; want at most 10", size, len(text), err)
		}
	}
}
