package skill_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy/skill"
	"toolgym/tools"
)

func TestDraw(t *testing.T) {
	episodes, _ := learn(t, skill.Course{Episodes: 4, Evaluation: 1})
	for name, list := range map[string][]skill.Episode{"a course": episodes, "nothing": nil, "one episode": episodes[:1]} {
		t.Run(name, func(t *testing.T) {
			picture, err := skill.Draw(list, "png")
			must(t, err)
			if image, err := png.Decode(bytes.NewReader(picture)); err != nil || image.Bounds().Dx() < 500 {
				t.Errorf("no picture: %v", err)
			}
			text, err := skill.Draw(list, "svg")
			must(t, err)
			for _, title := range []string{"Episode rewards", "Steps per episode", "Skills in library", "Cumulative skill uses", "median and quartiles over 5 seeds"} {
				if !bytes.Contains(text, []byte(title)) {
					t.Errorf("no panel %q", title)
				}
			}
			wellFormed(t, text)
		})
	}
	_, err := skill.Draw(episodes, "gif")
	wantCode(t, err, tools.Invalid)
}

func wellFormed(t *testing.T, text []byte) {
	t.Helper()
	decoder := xml.NewDecoder(bytes.NewReader(text))
	for {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestReadEpisodes(t *testing.T) {
	episodes, _ := learn(t, skill.Course{Episodes: 2, Evaluation: 1})
	var lines bytes.Buffer
	for _, e := range episodes {
		must(t, json.NewEncoder(&lines).Encode(e))
	}
	got, err := skill.ReadEpisodes(&lines)
	must(t, err)
	if diff := cmp.Diff(episodes, got); diff != "" {
		t.Error(diff)
	}
	for name, text := range map[string]string{
		"no JSON":          `{"episode":1}` + "\nx\n",
		"an unknown field": `{"episode":1}` + "\n" + `{"episode":2,"score":1}`,
		"episode 0":        `{"episode":1}` + "\n" + `{"episode":0}`,
		"far too many":     `{"episode":1}` + "\n" + `{"episode":1000000000000}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := skill.ReadEpisodes(strings.NewReader(text))
			if wantCode(t, err, tools.Invalid); err != nil && !strings.HasPrefix(err.Error(), "line 2: ") {
				t.Error(err)
			}
		})
	}
}
