package match

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// best tries every way to pair the rows.
func best(worth [][]int, row int, taken []bool) int {
	if row == len(worth) {
		return 0
	}
	most := best(worth, row+1, taken)
	for j := range taken {
		if !taken[j] {
			taken[j] = true
			most = max(most, worth[row][j]+best(worth, row+1, taken))
			taken[j] = false
		}
	}
	return most
}

func TestAssignIsOptimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, m := rapid.IntRange(0, 5).Draw(t, "rows"), rapid.IntRange(0, 5).Draw(t, "columns")
		worth := table(n, m, func(int, int) int { return rapid.IntRange(0, 4).Draw(t, "worth") })
		sum, seen := 0, []int{}
		for i, j := range assign(worth, m) {
			if j < 0 {
				continue
			}
			if slices.Contains(seen, j) || worth[i][j] == 0 {
				t.Fatalf("row %d has column %d of worth %d, taken before: %v", i, j, worth[i][j], seen)
			}
			seen = append(seen, j)
			sum += worth[i][j]
		}
		if want := best(worth, 0, make([]bool, m)); sum != want {
			t.Fatalf("pairs are worth %d, the best are worth %d", sum, want)
		}
	})
}

func TestInOrderIsLongest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want, made := letters(t, "expected"), letters(t, "made")
		fits := table(len(want), len(made), func(i, j int) int {
			if want[i] == made[j] {
				return 1
			}
			return 0
		})
		pairs, last, length := inOrder(fits, len(made)), -1, 0
		for i, j := range pairs {
			if j < 0 {
				continue
			}
			if j <= last || want[i] != made[j] {
				t.Fatalf("pairs %v of %v and %v", pairs, want, made)
			}
			last = j
			length++
		}
		if longest := subsequence(want, made); length != longest {
			t.Fatalf("%d pairs, %d are possible", length, longest)
		}
	})
}

func letters(t *rapid.T, label string) []byte {
	return rapid.SliceOfN(rapid.SampledFrom([]byte("abc")), 0, 6).Draw(t, label)
}

// subsequence is the textbook recursion.
func subsequence(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if a[0] == b[0] {
		return 1 + subsequence(a[1:], b[1:])
	}
	return max(subsequence(a[1:], b), subsequence(a, b[1:]))
}

func TestAssignPairsInPlace(t *testing.T) {
	got := assign([][]int{{1, 1, 1}, {1, 1, 1}}, 3)
	if diff := cmp.Diff([]int{0, 1}, got); diff != "" {
		t.Errorf("equal worth: %s", diff)
	}
}
