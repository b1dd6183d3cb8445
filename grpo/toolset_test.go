package grpo

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolgym/tools"
)

// heavyTools is a list of 20 tools whose patterns compile to far more than their
// texts, another for each number.
func heavyTools(number int) string {
	var list []string
	for i := range 20 {
		list = append(list, fmt.Sprintf(`{"name":"f%d","parameters":{"properties":{"a":{"pattern":"^([a-z]x{900})%d$"}}}}`, i, number))
	}
	return "[" + strings.Join(list, ",") + "]"
}

// TestRememberedToolsetsAreBoundedByWhatTheyCompileTo asks the toolsets of a
// scorer, and the cache of a stream, for more than they may remember.
func TestRememberedToolsetsAreBoundedByWhatTheyCompileTo(t *testing.T) {
	scorer, err := NewScorer(nil, DefaultRubric())
	if err != nil {
		t.Fatal(err)
	}
	stream := newCache(scorer)
	made := 0
	for i := range 40 {
		list := heavyTools(i)
		var set tools.Set
		if err := json.Unmarshal([]byte(list), &set); err != nil {
			t.Fatal(err)
		}
		made += set.Memory()
		if _, err := stream.task(t.Context(), &line{tools: []byte(list), expected: []byte(`{"calls":[]}`)}); err != nil {
			t.Fatal(err)
		}
		kept := 0
		for _, found := range scorer.toolsets.known {
			kept += found.set.Memory()
		}
		if n := scorer.toolsets.bytes; kept == 0 || n < kept || n > maxRemembered {
			t.Fatalf("the scorer remembers %d bytes and counts %d; want some, and at most %d", kept, n, maxRemembered)
		}
		kept = 0
		for _, found := range stream.sets {
			kept += found.value.set.Memory()
		}
		if kept == 0 || stream.bytes < kept || stream.bytes > maxCached {
			t.Fatalf("the stream remembers %d bytes and counts %d; want some, and at most %d", kept, stream.bytes, maxCached)
		}
	}
	if made <= maxRemembered {
		t.Fatalf("the tools take %d bytes; want more than %d", made, maxRemembered)
	}
}
