package strictjson_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"toolgym/internal/strictjson"
)

// Decoding into spare objects gives what decoding into new ones does, and takes
// nothing from an object that was not given.
func TestSpareObjects(t *testing.T) {
	texts := []string{
		`{"name":"f","arguments":{"a":1,"b":{"c":[{"d":2}]}}}`, `{"arguments":{"a":1}}`, `{"arguments":{}}`, `{"a":{"x":1},"b":{"x":1}}`,
		`{"a":{"k0":0,"k1":1,"k2":2,"k3":3,"k4":4,"k5":5,"k6":6,"k7":7,"k8":8}}`, `{"a":{"x":1,"x":2}}`, `{"a":{"x":`, `{"a":{"b":{"c":{}}}}`,
	}
	rapid.Check(t, func(t *rapid.T) {
		var spare strictjson.Spare
		kept := map[string]map[string]any{}
		for i := range 30 {
			text := rapid.SampledFrom(texts).Draw(t, "text")
			want, wantEnd, wantErr := strictjson.Defaults().Object(text)
			got, end, err := strictjson.Defaults().AppendObject(nil, text, &spare)
			if end != wantEnd || (err == nil) != (wantErr == nil) || !cmp.Equal(want, got) {
				t.Fatalf("%s: %v, %v; want %v, %v", text, got, err, want, wantErr)
			}
			for _, member := range got {
				object, _ := member.Value.(map[string]any)
				if rapid.Bool().Draw(t, "give") {
					spare.Give(object)
					spare.Give(object) // twice is once
				} else if object != nil {
					kept[fmt.Sprintf("%d %s %s", i, member.Key, text)] = object
				}
			}
		}
		for from, object := range kept {
			object[from] = true
		}
		for from, object := range kept {
			for other := range kept {
				if _, ok := object[other]; ok != (other == from) {
					t.Fatalf("%s and %s are one object", from, other)
				}
			}
		}
	})
}
