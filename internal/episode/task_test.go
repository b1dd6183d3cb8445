package episode_test

import (
	"fmt"
	"testing"

	"toolgym/internal/episode"
	"toolgym/tools"
)

func TestTasksThatDoNotExist(t *testing.T) {
	levels := func(rules string) []string {
		return map[string][]string{tools.Sound: {"0", "1"}, tools.Documented: {"0"}}[rules]
	}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"known", episode.Known(tools.Sound, "1", levels), "<nil>"},
		{"level of other rules", episode.Known(tools.Documented, "1", levels), `level: unknown level "1" under the documented rules; want one of 0`},
		{"no level", episode.Known(tools.Sound, "", levels), `level: unknown level "" under the sound rules; want one of 0, 1`},
		{"rules", episode.Known("loose", "0", levels), `rules: unknown rules "loose"; want one of sound, documented`},
		{"its own task", episode.Of("maze", tools.Task{Env: "maze"}), "<nil>"},
		{"another's task", episode.Of("maze", tools.Task{Env: "chess"}), `env: a task of "chess"; want a task of maze`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := fmt.Sprint(test.err); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}
