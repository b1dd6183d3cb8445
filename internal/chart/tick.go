package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// spacing is the distance between round numbers (1, 2 or 5 times a power of ten)
// of which about n lie in a span; at least least.
func spacing(span float64, n int, least float64) float64 {
	raw := span / float64(n)
	if !(raw > 0) {
		return max(least, 1)
	}
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5, 10} {
		if step := m * power; step >= raw*(1-1e-9) {
			return max(step, least)
		}
	}
	return max(10*power, least)
}

// ticks are round numbers from low to high.
func ticks(low, high, step float64) plot.ConstantTicks {
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var list plot.ConstantTicks
	for k := math.Ceil(low/step - 1e-9); k*step <= high+step*1e-9; k++ {
		v := k * step
		if k == 0 {
			v = 0 // and not -0
		}
		list = append(list, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', digits, 64)})
	}
	return list
}

// Round is the least round number (1, 1.5, 2, 3, 5 or 7 times a power of ten)
// that is not below n: the end of an axis that grows now and then, and not with
// every value.
func Round(n int) int {
	for power := 1; ; power *= 10 {
		for _, m := range []int{10, 15, 20, 30, 50, 70} {
			if v := m * power / 10; v >= n && m*power%10 == 0 {
				return v
			}
		}
	}
}

// around is a range of round numbers that holds all values.
func around(low, high float64) (float64, float64) {
	if low > high {
		return 0, 1
	}
	if high-low < 1e-9 {
		low, high = low-0.5, high+0.5
	}
	step := spacing(high-low, 8, 0)
	return math.Floor(low/step) * step, math.Ceil(high/step) * step
}
