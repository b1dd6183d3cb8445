package parse_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/grpo/parse"
)

// TestWireShape pins the JSON of POST /v1/parse, in and out.
func TestWireShape(t *testing.T) {
	tests := []struct{ name, request, want string }{
		{"a call that breaks its schema",
			`{"text": "A <tool_call>{\"name\": \"f\", \"arguments\": {\"n\": \"5\"}}</tool_call>", "family": "hermes", "finish_reason": "stop",
			  "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}}]}`,
			`{"family": "hermes", "tier": "strict", "format_ok": true, "schema_valid": false, "calls": [{"name": "f", "arguments": {"n": "5"}}],
			  "attempts": [{"family": "hermes", "tier": "strict", "status": "ok", "defects": ["type_mismatch", "coercible"], "name": "f", "arguments": {"n": "5"},
			    "raw_arguments": "{\"n\": \"5\"}", "span": {"start": 2, "end": 63}, "schema_valid": false,
			    "violations": [{"pointer": "/n", "keyword": "type", "message": "got string, want integer"}], "coercible": true, "unknown_arguments": []}],
			  "content": "A", "reasoning": "", "defects": ["type_mismatch", "coercible"]}`},
		{"a lost attempt",
			`{"text": "<tool_call>{}</tool_call>", "family": "hermes"}`,
			`{"family": "hermes", "tier": "none", "format_ok": false, "schema_valid": null, "calls": [],
			  "attempts": [{"family": "hermes", "tier": "none", "status": "missing_name", "defects": ["missing_name"], "name": "", "arguments": null,
			    "raw_arguments": "", "span": {"start": 0, "end": 25}, "schema_valid": null, "violations": [], "coercible": false, "unknown_arguments": []}],
			  "content": "", "reasoning": "", "defects": ["missing_name"]}`},
		{"an answer", `{"text": "Hello."}`,
			`{"family": "auto", "tier": "answer", "format_ok": true, "schema_valid": null, "calls": [], "attempts": [], "content": "Hello.", "reasoning": "", "defects": []}`},
		{"a failure of the server", `{"message": {"error": "model not found"}}`,
			`{"family": "structured", "tier": "none", "format_ok": false, "schema_valid": null, "calls": [], "attempts": [], "content": "", "reasoning": "", "defects": [],
			  "failure": {"kind": "infrastructure", "reason": "model not found"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			decoder := json.NewDecoder(bytes.NewReader([]byte(tt.request)))
			decoder.DisallowUnknownFields()
			var request parse.Request
			if err := decoder.Decode(&request); err != nil {
				t.Fatal(err)
			}
			reading, err := request.Read()
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(reading)
			if err != nil {
				t.Fatal(err)
			}
			var got, want any
			if err := json.Unmarshal(data, &got); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(tt.want), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n%s", data, diff)
			}
		})
	}
}
