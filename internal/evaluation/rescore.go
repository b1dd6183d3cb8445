package evaluation

import (
	"context"

	"toolgym/grpo/eval"
)

// Rescored is what judging a run again came to.
type Rescored struct {
	Run     string `json:"run"`
	Trials  int    `json:"trials"`  // that were judged
	Changed int    `json:"changed"` // whose verdict is another now
}

// Rescore judges a run's trials again by the room's rubric, without any model,
// and keeps the verdicts that differ.
func (r Room) Rescore(ctx context.Context, name string) (Rescored, error) {
	run, err := r.Store.Run(ctx, name)
	if err != nil {
		return Rescored{}, err
	}
	items, err := r.items(ctx, run)
	if err != nil {
		return Rescored{}, err
	}
	scorer, err := r.scorer()
	if err != nil {
		return Rescored{}, err
	}
	records, err := r.Store.Records(ctx, name, "")
	if err != nil {
		return Rescored{}, err
	}
	again, err := eval.Rescore(ctx, items, scorer, records)
	if err != nil {
		return Rescored{}, err
	}
	different, err := differing(records, again)
	if err != nil {
		return Rescored{}, err
	}
	result := Rescored{Run: run.Name, Trials: len(records), Changed: len(different)}
	if len(different) == 0 {
		return result, nil
	}
	return result, r.Store.Judge(ctx, different)
}
