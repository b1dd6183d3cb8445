package plugin_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/plugin"
	"toolgym/tools"
)

// testTool is a langchaingo tool with any behaviour.
type testTool struct {
	name string
	do   func(ctx context.Context, input string) (string, error)
}

func (w testTool) Name() string                                           { return w.name }
func (w testTool) Description() string                                    { return "Does anything." }
func (w testTool) Call(ctx context.Context, input string) (string, error) { return w.do(ctx, input) }

func echo(_ context.Context, input string) (string, error) { return input, nil }
func fails(context.Context, string) (string, error)        { return "", errors.New("no network") }
func panics(context.Context, string) (string, error)       { panic("index out of range") }
func large(context.Context, string) (string, error)        { return strings.Repeat("é", 5<<20), nil }

func exits(context.Context, string) (string, error) {
	runtime.Goexit()
	return "", nil
}

func hangs(ctx context.Context, _ string) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

func TestGuardErrors(t *testing.T) {
	tests := []struct {
		name  string
		do    func(context.Context, string) (string, error)
		want  string
		heard []string
	}{
		{"that answers", echo, "hello", []string{"tool start hello", "tool end hello"}},
		{"that fails", fails, `{"error":"no network"}`, []string{"tool start hello", "tool error no network"}},
		{"that panics", panics, `{"error":"test_tool: panicked: index out of range"}`, []string{"tool start hello", "tool error test_tool: panicked: index out of range"}},
		{"that leaves its goroutine", exits, `{"error":"test_tool: returned no output"}`, []string{"tool start hello", "tool error test_tool: returned no output"}},
		{"that hangs", hangs, `{"error":"test_tool: took too long: more than 30s"}`, []string{"tool start hello", "tool error test_tool: took too long: more than 30s"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e callbackLog
				guarded := plugin.Guard([]lctools.Tool{testTool{"test_tool", test.do}}, plugin.ToolLimits{}, &e)
				got, err := guarded[0].Call(t.Context(), "hello")
				if err != nil || got != test.want {
					t.Errorf("got %q, %v, want %q", got, err, test.want)
				}
				if diff := cmp.Diff(test.heard, e.heard); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestGuardTruncatesOutput(t *testing.T) {
	guarded := plugin.Guard([]lctools.Tool{testTool{"test_tool", large}}, plugin.ToolLimits{Output: 5}, nil)
	got, err := guarded[0].Call(context.Background(), "")
	if want := "éé… (cut: 5 of 10485760 bytes)"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// TestGuardToolIgnoresContext: synctest itself fails when a goroutine
// is left after the tool was let go.
func TestGuardToolIgnoresContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		ignores := testTool{"ignores", func(context.Context, string) (string, error) { <-release; return "late", nil }}
		began := time.Now()
		got, err := plugin.Guard([]lctools.Tool{ignores}, plugin.ToolLimits{Time: time.Minute, Grace: time.Second}, nil)[0].Call(t.Context(), "")
		if err != nil || !strings.Contains(got, "still running") {
			t.Errorf("got %q, %v", got, err)
		}
		if waited := time.Since(began); waited != time.Minute+time.Second {
			t.Errorf("waited %s", waited)
		}
		close(release)
	})
}

func TestGuardCancelledRun(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithCancel(context.Background())
	hung := testTool{"hung", func(ctx context.Context, input string) (string, error) {
		cancel()
		return hangs(ctx, input)
	}}
	guarded := plugin.Guard([]lctools.Tool{hung}, plugin.ToolLimits{}, nil)
	if _, err := guarded[0].Call(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestFromLangchain(t *testing.T) {
	tests := []struct {
		name      string
		tool      lctools.Tool
		arguments string
		want      string
		isError   bool
	}{
		{"a stock tool", lctools.Calculator{}, `{"input":"2*(3+4)"}`, `{"result":"14"}`, false},
		{"a stock tool without its argument", lctools.Calculator{}, `{}`, "missing property 'input'", true},
		{"a stock tool with an unknown key", lctools.Calculator{}, `{"input":"1","base":2}`, "additional properties 'base'", true},
		{"an output that is an object", testTool{"test_tool", func(context.Context, string) (string, error) { return `{"sum":3}`, nil }}, `{"input":""}`, `{"sum":3}`, false},
		{"an error", testTool{"test_tool", fails}, `{"input":""}`, `{"error":"no network"}`, true},
		{"a panic", testTool{"test_tool", panics}, `{"input":""}`, "panicked", true},
		{"ten megabytes", testTool{"test_tool", large}, `{"input":""}`, "(cut: 65536 of 10485760 bytes)", false},
		{"one of ours", offered(t, statelessTools())["divide"], `{"a":3,"b":2}`, `{"result":1.5}`, false},
		{"a mistake with one of ours", offered(t, statelessTools())["divide"], `{"a":3,"b":0}`, `{"error":"division by zero"}`, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			noLeak(t)
			adopted, err := plugin.FromLangchain(test.tool, plugin.ToolLimits{})
			if err != nil {
				t.Fatal(err)
			}
			got, err := tools.Set{adopted}.Call(context.Background(), tools.Call{Name: test.tool.Name(), Arguments: []byte(test.arguments)})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(got.Content), test.want) || got.IsError != test.isError {
				t.Errorf("got %.200s (error %v), want …%s… (error %v)", got.Content, got.IsError, test.want, test.isError)
			}
		})
	}
}

func TestFromLangchainReturnsAnOutage(t *testing.T) {
	list, err := plugin.EpisodeTools(&counter{dead: true})
	if err != nil {
		t.Fatal(err)
	}
	adopted, err := plugin.FromLangchain(list[0], plugin.ToolLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := adopted.Call(context.Background(), nil); !errors.Is(err, errDead) {
		t.Errorf("got %v, want %v", err, errDead)
	}
}
