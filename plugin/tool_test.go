package plugin_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/plugin"
	"toolgym/tools"
)

func offered(t *testing.T, set tools.Set) map[string]lctools.Tool {
	t.Helper()
	list, err := plugin.Tools(set)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]lctools.Tool{}
	for _, tool := range list {
		byName[tool.Name()] = tool
	}
	return byName
}

func TestToolsReadTheirInput(t *testing.T) {
	tests := []struct {
		name, tool, input, want string
	}{
		{"an object", "add", `{"a":1,"b":2}`, `{"result":3}`},
		{"blanks around it", "add", "\n {\"a\":1,\"b\":2} ", `{"result":3}`},
		{"an object within a string", "add", `"{\"a\":1,\"b\":2}"`, `{"result":3}`},
		{"null where nothing is needed", "ping", `null`, `{"result":1}`},
		{"nothing where nothing is needed", "ping", ``, `{"result":1}`},
		{"null where something is needed", "measure", `null`, "missing property"},
		{"a bare string for the one string", "measure", `two words`, `{"result":9}`},
		{"a quoted string for the one string", "measure", `"two words"`, `{"result":9}`},
		{"a bare number for the one string", "measure", `12.5`, `{"result":4}`},
		{"a bare string for two numbers", "add", `1 and 2`, "invalid arguments for add"},
		{"a bare string for no parameter", "ping", `now`, "invalid arguments for ping"},
		{"a number for two numbers", "add", `5`, "got number, want object"},
		{"a list", "add", `[1,2]`, "got array, want object"},
		{"an unknown key", "add", `{"a":1,"b":2,"c":3}`, "additional properties 'c'"},
		{"a missing key", "add", `{"a":1}`, "missing property 'b'"},
		{"a number as a string", "add", `{"a":"1","b":2}`, "got string, want number"},
		{"cut off", "add", `{"a":1,"b":`, "invalid arguments for add"},
		{"a key twice", "add", `{"a":1,"a":1,"b":2}`, "invalid arguments for add"},
		{"the agent's mistake", "divide", `{"a":1,"b":0}`, `{"error":"division by zero"}`},
	}
	byName := offered(t, statelessTools())
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := byName[test.tool].Call(context.Background(), test.input)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("got %s, want …%s…", got, test.want)
			}
		})
	}
}

func TestToolsShowTheirSchema(t *testing.T) {
	set := statelessTools()
	list, err := plugin.Tools(set)
	if err != nil {
		t.Fatal(err)
	}
	for i, tool := range list {
		typed, ok := tool.(plugin.Typed)
		if !ok {
			t.Fatalf("%s shows no schema", tool.Name())
		}
		want := []string{set[i].Name, set[i].Description, string(set[i].Parameters)}
		if diff := cmp.Diff(want, []string{typed.Name(), typed.Description(), string(typed.Parameters())}); diff != "" {
			t.Error(diff)
		}
	}
}

func TestToolsRefuse(t *testing.T) {
	add := statelessTools()[0]
	shout := add
	shout.Name = "ADD"
	tests := []struct {
		name, code string
		set        tools.Set
	}{
		{"the same name in other case", tools.Invalid, tools.Set{add, shout}},
		{"the same name", tools.Invalid, tools.Set{add, add}},
		{"a tool without a handler", tools.Conflict, (&counter{}).Tools()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := plugin.Tools(test.set)
			if e := (*tools.Error)(nil); !errors.As(err, &e) || e.Code != test.code {
				t.Errorf("got %v, want code %s", err, test.code)
			}
		})
	}
}

func TestEpisodeToolsEndWithTheEpisode(t *testing.T) {
	list, err := plugin.EpisodeTools(&counter{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for range 4 {
		output, err := list[0].Call(context.Background(), "")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, output)
	}
	want := []string{`{"at":1}`, `{"at":2}`, `{"at":3}`, `{"error":"the episode is over"}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEpisodeToolsReturnWhatNoAgentCanMend(t *testing.T) {
	tests := []struct {
		name      string
		cancelled bool
		env       *counter
		want      error
	}{
		{"a dead server", false, &counter{dead: true}, errDead},
		{"a cancelled run", true, &counter{}, context.Canceled},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			list, err := plugin.EpisodeTools(test.env)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if test.cancelled {
				cancel()
			}
			if _, err := list[0].Call(ctx, ""); !errors.Is(err, test.want) {
				t.Errorf("unguarded: got %v, want %v", err, test.want)
			}
			guarded := plugin.Guard(list, plugin.ToolLimits{}, nil)
			if _, err := guarded[0].Call(ctx, ""); !errors.Is(err, test.want) {
				t.Errorf("guarded: got %v, want %v", err, test.want)
			}
		})
	}
}
