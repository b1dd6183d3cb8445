package evaluation

import (
	"bytes"
	"encoding/json"
	"fmt"

	"toolgym/grpo/eval"
)

// differing picks the records whose verdict is not the one that was kept, to
// the byte.
func differing(kept, again []eval.Record) ([]eval.Record, error) {
	var list []eval.Record
	for i := range kept {
		before, err := json.Marshal(kept[i].Trial)
		if err != nil {
			return nil, fmt.Errorf("encoding a verdict: %w", err)
		}
		now, err := json.Marshal(again[i].Trial)
		if err != nil {
			return nil, fmt.Errorf("encoding a verdict: %w", err)
		}
		if !bytes.Equal(before, now) {
			list = append(list, again[i])
		}
	}
	return list, nil
}
