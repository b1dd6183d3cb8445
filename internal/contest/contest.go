package contest

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// A Contestant does its work in turns. A turn tells how long it took and, where
// the contestants must come to the same, what it came to.
type Contestant struct {
	Name string
	Turn func() (took time.Duration, sum float64, err error)
}

// Times are what the turns took: a row a round, a column a contestant.
type Times [][]time.Duration

// Hold lets all take turns, after one that does not count. Contestants that come
// to something else than the first do not compare.
func Hold(all []Contestant, rounds int) (Times, error) {
	var times Times
	for round := range rounds + 1 {
		var row []time.Duration
		var first float64
		for i, c := range all {
			took, sum, err := c.Turn()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			if i == 0 {
				first = sum
			}
			if math.Abs(sum-first) > 1e-6*math.Abs(first) {
				return nil, fmt.Errorf("%s comes to %v in all, %s to %v", c.Name, sum, all[0].Name, first)
			}
			row = append(row, took)
		}
		if round > 0 {
			times = append(times, row)
		}
	}
	return times, nil
}

// Seconds is the median of a contestant's times.
func (t Times) Seconds(i int) float64 {
	return t.median(func(row []time.Duration) float64 { return row[i].Seconds() })
}

// Ratio is the median of the first contestant's time over a contestant's, by
// rounds.
func (t Times) Ratio(i int) float64 {
	return t.median(func(row []time.Duration) float64 { return row[0].Seconds() / row[i].Seconds() })
}

func (t Times) median(of func(row []time.Duration) float64) float64 {
	values := make([]float64, len(t))
	for i, row := range t {
		values[i] = of(row)
	}
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
