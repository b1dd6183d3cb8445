package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/internal/strictjson"
)

// stricter are the kinds of error where encoding/json is more lenient.
var stricter = map[strictjson.Kind]bool{
	strictjson.DuplicateKey: true, strictjson.LoneSurrogate: true, strictjson.InvalidUTF8: true,
	strictjson.TooDeep: true, strictjson.TooLarge: true,
}

// reference decodes with encoding/json under the same contract.
func reference(data []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("trailing data")
	}
	return value, nil
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2.5e3,"x\n\u00e9"],"b":null}`, `"\ud83c\udf78"`, `[tru`, `{"a":1,"a":2}`, "1e999999999", "[1,]", " [ ] "} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := strictjson.Decode(data)
		want, wantErr := reference(data)
		var failure *strictjson.Error
		switch {
		case err == nil && wantErr != nil:
			t.Fatalf("accepted what encoding/json refuses: %v", wantErr)
		case err == nil:
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		case !errors.As(err, &failure):
			t.Fatalf("the error is a %T", err)
		case failure.Offset < 0 || failure.Offset > len(data):
			t.Fatalf("offset %d of %d", failure.Offset, len(data))
		case wantErr == nil && !stricter[failure.Kind]:
			t.Fatalf("refused what encoding/json accepts: %v", err)
		}
	})
}

func FuzzMend(f *testing.F) {
	for _, seed := range []string{`{"a":1,} x`, `{'a': True, "b": .5}`, "{\"a\":\"x\ny\"}", `{'a': '\x41\d'}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limits := strictjson.Defaults()
		strict, strictEnd, strictErr := limits.Object(text)
		members, end, mends, err := limits.Mend(text)
		if strictErr == nil && (err != nil || mends != 0 || end != strictEnd || !cmp.Equal(strict, members)) {
			t.Fatalf("a valid object was mended: %v %v", mends, err)
		}
		if err == nil && strictErr != nil && mends == 0 {
			t.Fatalf("mended without saying so")
		}
		if end < 0 || end > len(text) {
			t.Fatalf("end %d of %d", end, len(text))
		}
		for _, m := range members {
			if m.Start < 0 || m.End > end || m.Start > m.End {
				t.Fatalf("span [%d:%d] of %d", m.Start, m.End, end)
			}
		}
	})
}

func BenchmarkObject(b *testing.B) {
	text := `{"name": "calculate", "arguments": {"expression": "12 * (3 + 4)", "precision": 2}}`
	limits := strictjson.Defaults()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := limits.Object(text); err != nil {
			b.Fatal(err)
		}
	}
}
