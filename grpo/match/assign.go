package match

import "math"

// table fills n rows of m columns.
func table(n, m int, cell func(i, j int) int) [][]int {
	rows := make([][]int, n)
	for i := range rows {
		rows[i] = make([]int, m)
		for j := range rows[i] {
			rows[i][j] = cell(i, j)
		}
	}
	return rows
}

// assign pairs the rows of worth, which have m columns each, with columns so
// that the sum of the pairs' worth (not negative) is the largest, and returns
// for each row its column or −1; pairs worth 0 are none. It is the Hungarian
// method with potentials and shortest augmenting paths (Kuhn 1955; Jonker and
// Volgenant 1987) in O(n² m) for n ≤ m. The same input gives the same pairs.
func assign(worth [][]int, m int) []int {
	n := len(worth)
	columns := make([]int, n)
	for i := range columns {
		columns[i] = -1
	}
	if n > m {
		turned := table(m, n, func(i, j int) int { return worth[j][i] })
		for j, i := range assign(turned, n) {
			if i >= 0 {
				columns[i] = j
			}
		}
		return columns
	}
	s := newSearch(worth, m)
	for row := 1; row <= n; row++ {
		s.augment(row)
	}
	for j := 1; j <= m; j++ {
		if i := s.rowOf[j]; i > 0 && worth[i-1][j-1] > 0 {
			columns[i-1] = j - 1
		}
	}
	return columns
}

// search is the state of the method. Rows and columns count from 1; index 0 is
// the row or column that is not there yet.
type search struct {
	worth      [][]int
	rows, cols []int // potentials
	rowOf      []int // the row that holds a column
	slack      []int // the cheapest way into a column that was seen
	from       []int // the column before it on that way
	visited    []bool
}

func newSearch(worth [][]int, m int) *search {
	return &search{
		worth: worth, rows: make([]int, len(worth)+1), cols: make([]int, m+1),
		rowOf: make([]int, m+1), slack: make([]int, m+1), from: make([]int, m+1), visited: make([]bool, m+1),
	}
}

// augment gives row a column, and moves the rows that stand in its way along
// the cheapest path to a free column.
func (s *search) augment(row int) {
	for j := range s.slack {
		s.slack[j], s.visited[j] = math.MaxInt, false
	}
	s.rowOf[0] = row
	column := 0
	for s.rowOf[column] != 0 {
		column = s.step(column)
	}
	for column != 0 {
		s.rowOf[column] = s.rowOf[s.from[column]]
		column = s.from[column]
	}
}

// step leaves a column by its row, adjusts the potentials, and returns the next
// column on a cheapest path.
func (s *search) step(column int) int {
	s.visited[column] = true
	row, next, delta := s.rowOf[column], 0, math.MaxInt
	for j := 1; j < len(s.cols); j++ {
		if s.visited[j] {
			continue
		}
		cost := -s.worth[row-1][j-1] - s.rows[row] - s.cols[j]
		if cost < s.slack[j] {
			s.slack[j], s.from[j] = cost, column
		}
		if s.slack[j] < delta {
			delta, next = s.slack[j], j
		}
	}
	for j := range s.cols {
		if s.visited[j] {
			s.rows[s.rowOf[j]] += delta
			s.cols[j] -= delta
		} else if s.slack[j] != math.MaxInt {
			s.slack[j] -= delta
		}
	}
	return next
}
