package option

// Nearest returns the known name that is closest to name, or "" when none is
// close enough to have been meant: at most a third of its letters differ, and
// at most three.
func Nearest(name string, known []string) string {
	best, bestDistance := "", 4
	for _, k := range known {
		limit := max(1, (max(len(name), len(k))+1)/3)
		if d := distance(name, k); d <= limit && d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// distance is the number of letters inserted, removed, replaced or swapped
// with their neighbour (optimal string alignment), letters of either case alike.
func distance(a, b string) int {
	x, y := []rune(fold(a)), []rune(fold(b))
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(x)][len(y)]
}

// fold makes letters lower case, and - and _ the same.
func fold(s string) string {
	out := []rune(s)
	for i, r := range out {
		switch {
		case r >= 'A' && r <= 'Z':
			out[i] = r + 'a' - 'A'
		case r == '-':
			out[i] = '_'
		}
	}
	return string(out)
}
