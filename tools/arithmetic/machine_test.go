package arithmetic_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"toolgym/tools/arithmetic"
)

// TestDocumentedGolden plays every row of the published rules' golden file.
func TestDocumentedGolden(t *testing.T) {
	f, err := os.Open("testdata/toolenv_documented.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := 0
	for lines := bufio.NewScanner(f); lines.Scan(); rows++ {
		var row struct {
			Stage    int
			Operands [5]int
			Actions  []int
			Reward   float64
			Steps    int
		}
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		m := arithmetic.NewDocumented(arithmetic.Published(row.Stage, row.Operands))
		var total float64
		for _, token := range row.Actions {
			reward, _ := m.Step(token)
			total += reward
		}
		if total != row.Reward || m.Steps() != row.Steps {
			t.Errorf("row %d: reward %v in %d steps, want %s", rows+1, total, m.Steps(), lines.Text())
		}
	}
	if rows != 1965 {
		t.Errorf("%d rows, want 1965", rows)
	}
}
