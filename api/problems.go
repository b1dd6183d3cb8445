package api

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/api/client"
)

// problemTable has the problem documents that the OpenAPI document shows, each
// with the request that it answers. A test sends these requests and compares.
//
//go:embed problems.json
var problemTable string

// A problemExample is a row of the table: a refusal of one operation, or one that
// operations have in common.
type problemExample struct {
	Operation string         `json:"operation,omitempty"` // empty for one in common
	Status    int            `json:"status"`
	Setting   string         `json:"setting,omitempty"` // of the server, where the usual one would not refuse
	Request   problemRequest `json:"request"`
	Problem   client.Problem `json:"problem"`
}

// A problemRequest is a request that is refused.
type problemRequest struct {
	Method  string            `json:"method"`
	Path    string            `json:"path"` // and query
	Headers map[string]string `json:"headers,omitempty"`
	Body    string            `json:"body,omitempty"`
}

// problemExamples reads the table.
func problemExamples() ([]problemExample, error) {
	var rows []problemExample
	if err := json.Unmarshal([]byte(problemTable), &rows); err != nil {
		return nil, fmt.Errorf("reading the table of problem documents: %w", err)
	}
	return rows, nil
}

// examplesOf are the rows of an operation's status as the OpenAPI document shows
// them; those in common have no operation.
func (s *Server) examplesOf(operation string, status int) map[string]*huma.Example {
	examples := map[string]*huma.Example{}
	for _, row := range s.problems {
		if row.Operation != operation || row.Status != status {
			continue
		}
		examples[fmt.Sprint("refusal", len(examples)+1)] = &huma.Example{Summary: row.Setting, Value: row.Problem,
			Extensions: map[string]any{"x-request": row.Request}}
	}
	return examples
}
