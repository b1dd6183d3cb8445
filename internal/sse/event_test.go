package sse_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"toolgym/internal/sse"
)

func read(t interface{ Error(args ...any) }, from io.Reader) (events []sse.Event) {
	for e, err := range sse.Read(from) {
		if err != nil {
			t.Error(err)
		}
		events = append(events, e)
	}
	return events
}

// TestRead takes the forms that servers and what is on the way give events.
func TestRead(t *testing.T) {
	one := sse.Event{ID: "1", Name: "end", Data: []byte("{}")}
	tests := []struct {
		name, text string
		want       []sse.Event
	}{
		{"one", "id: 1\nevent: end\ndata: {}\n\n", []sse.Event{one}},
		{"behind comments and empty lines", "\n: still there\n\nretry: 5\n\nid:1\nevent:end\ndata:{}\n\n", []sse.Event{one}},
		{"with carriage returns", "id: 1\r\nevent: end\r\ndata: {}\r\n\r\n", []sse.Event{one}},
		{"data on two lines", "data: {\ndata: }\n\n", []sse.Event{{Data: []byte("{\n}")}}},
		{"without data", "id: 1\nevent: end\n\n", nil},
		{"half an event", "id: 1\nevent: end\ndata: {}\n", nil},
		{"nothing at all", "", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, read(t, iotest.OneByteReader(strings.NewReader(test.text)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[^\r\n ][^\r\n]*`)
		events := rapid.SliceOf(rapid.Custom(func(t *rapid.T) sse.Event {
			return sse.Event{ID: line.Draw(t, "id"), Name: rapid.OneOf(rapid.Just(""), line).Draw(t, "name"), Data: []byte(line.Draw(t, "data"))}
		})).Draw(t, "events")
		var text strings.Builder
		for _, e := range events {
			if err := sse.Write(&text, e); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(events, read(t, strings.NewReader(text.String())), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFailuresAreTold(t *testing.T) {
	broken := errors.New("the line is cut")
	from := io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(broken))
	var got []string
	for e, err := range sse.Read(from) {
		if err != nil {
			got = append(got, err.Error())
			continue
		}
		got = append(got, string(e.Data))
	}
	if diff := cmp.Diff([]string{"1", broken.Error()}, got); diff != "" {
		t.Error(diff)
	}
}
