package match

// inOrder pairs as many expected calls as possible so that their calls come in
// the same order: a longest common subsequence, where fits[i][j] is 1 when call
// j fits expected call i. Among the longest the earliest calls are taken.
func inOrder(fits [][]int, made int) []int {
	n := len(fits)
	longest := make([][]int, n+1) // of fits[i:] against the calls from j on
	for i := range longest {
		longest[i] = make([]int, made+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := made - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if fits[i][j] == 1 {
				longest[i][j] = max(longest[i][j], longest[i+1][j+1]+1)
			}
		}
	}
	pairs := make([]int, n)
	for i, j := 0, 0; i < n; {
		switch {
		case j < made && fits[i][j] == 1 && longest[i][j] == longest[i+1][j+1]+1:
			pairs[i] = j
			i, j = i+1, j+1
		case j < made && longest[i][j] == longest[i][j+1]:
			j++
		default:
			pairs[i] = -1
			i++
		}
	}
	return pairs
}
