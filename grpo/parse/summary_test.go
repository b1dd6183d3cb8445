package parse_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"toolgym/grpo/parse"
	"toolgym/tools"
)

// declaredTools are the tools of the field cases, together.
func declaredTools(t testing.TB) tools.Set {
	t.Helper()
	data, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var set tools.Set
	if err := json.Unmarshal(data, &set); err != nil {
		t.Fatal(err)
	}
	return set
}

// summary writes a reading in one line: its tier, its calls, its defects.
//
//	envelope: f{"a":1} g{} [missing_close_tag]
func summary(r parse.Reading) string {
	parts := []string{string(r.Tier) + ":"}
	for _, call := range r.Calls {
		parts = append(parts, call.Name+compact(call.Arguments))
	}
	var defects []string
	for _, d := range r.Defects {
		defects = append(defects, string(d))
	}
	if slices.Sort(defects); len(defects) > 0 {
		parts = append(parts, "["+strings.Join(defects, " ")+"]")
	}
	return strings.Join(parts, " ")
}

// row is one text and the summary of its right reading.
type row struct{ name, text, want string }

// readRows checks rows of one family; a name that ends in "(cut)" has the
// finish reason length.
func readRows(t *testing.T, family parse.Family, rows []row) {
	t.Helper()
	reader := parse.NewReader(declaredTools(t))
	for _, r := range rows {
		t.Run(string(family)+"/"+r.name, func(t *testing.T) {
			finish := "stop"
			if strings.HasSuffix(r.name, "(cut)") {
				finish = "length"
			}
			got, err := reader.Read(parse.Input{Text: &r.text, Family: family, FinishReason: finish})
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(got); got != r.want {
				t.Errorf("\n got %s\nwant %s", got, r.want)
			}
			checkInvariants(t, r.text, got)
		})
	}
}

// checkInvariants checks what holds for every reading of a text.
func checkInvariants(t testing.TB, text string, r parse.Reading) {
	t.Helper()
	if r.FormatOK != (r.Tier == parse.Strict || r.Tier == parse.Answer) {
		t.Errorf("tier %s with format_ok %t", r.Tier, r.FormatOK)
	}
	counted, before := 0, 0
	for i, a := range r.Attempts {
		if a.Span.Start < 0 || a.Span.Start > a.Span.End || a.Span.End > len(text) {
			t.Errorf("attempt %d spans %v of %d bytes", i, a.Span, len(text))
		}
		if a.Span.Start < before {
			t.Errorf("attempt %d starts at %d, inside the one before", i, a.Span.Start)
		}
		before = a.Span.End
		if a.Counts() != (a.Status == parse.StatusOK) {
			t.Errorf("attempt %d has status %s and tier %s", i, a.Status, a.Tier)
		}
		if a.Counts() {
			counted++
		}
		if a.Counts() && !json.Valid(a.Arguments) {
			t.Errorf("attempt %d has arguments %q", i, a.Arguments)
		}
		if a.Family == parse.Auto && a.Counts() {
			t.Errorf("attempt %d has no family", i)
		}
	}
	if counted != len(r.Calls) || (r.SchemaValid == nil) != (counted == 0) {
		t.Errorf("%d attempts count, %d calls, schema_valid %v", counted, len(r.Calls), r.SchemaValid)
	}
	if _, err := json.Marshal(r); err != nil {
		t.Error(err)
	}
}

// compact removes the blanks between the parts of a JSON text.
func compact(text json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		return "!" + string(text)
	}
	return b.String()
}
