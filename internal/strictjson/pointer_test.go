package strictjson_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"toolgym/internal/strictjson"
)

// TestPointers takes the examples of RFC 6901, section 5.
func TestPointers(t *testing.T) {
	tests := []struct {
		pointer string
		path    []string
	}{
		{"", nil},
		{"/foo", []string{"foo"}},
		{"/foo/0", []string{"foo", "0"}},
		{"/", []string{""}},
		{"/a~1b", []string{"a/b"}},
		{"/m~0n", []string{"m~n"}},
		{"/~01", []string{"~1"}},
	}
	for _, test := range tests {
		t.Run(test.pointer, func(t *testing.T) {
			if got := strictjson.Pointer(test.path...); got != test.pointer {
				t.Errorf("the pointer of %q is %q, want %q", test.path, got, test.pointer)
			}
			if diff := cmp.Diff(test.path, strictjson.Path(test.pointer), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("the path of %q: %s", test.pointer, diff)
			}
		})
	}
}

func TestPointersNameThePath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.SliceOf(rapid.String()).Draw(t, "path")
		if diff := cmp.Diff(path, strictjson.Path(strictjson.Pointer(path...)), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	})
}
