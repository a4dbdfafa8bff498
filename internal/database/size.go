package database

import "github.com/leatdata/leat/connector"

// Bounds of the number and size of splits.
const (
	// minSplitBytes is what a split holds at least, to be worth its claim.
	minSplitBytes = 4 << 20
	// splitsPerReader are wanted, so that readers end at about the same time.
	splitsPerReader = 4
	// GuessedRow stands for the bytes of a row of which nothing is known.
	GuessedRow = 100
	// stepSplits is how many ranges a step of the enumeration finds, but for
	// the first, for which the readers wait.
	stepSplits = 16
)

// Steps is how many ranges the step from a cursor finds.
func Steps(at Cursor, want connector.Want) int {
	if at.Low == nil {
		return min(stepSplits, max(1, want.Parallelism))
	}
	return stepSplits
}

// Size is about how large a relation and its splits are; 0 where unknown.
type Size struct {
	Bytes, Rows           int64
	SplitBytes, SplitRows int64
}

// SizeUp decides the size of splits: as asked for, but smaller when there would
// else be too few of them for all readers. splitRows is 0 unless asked for.
func SizeUp(bytes, rows, splitBytes, splitRows int64, want connector.Want) Size {
	z := Size{Bytes: bytes, Rows: rows, SplitRows: splitRows}
	share := bytes / int64(max(1, want.Parallelism)*splitsPerReader)
	z.SplitBytes = min(splitBytes, max(minSplitBytes, share))
	switch {
	case z.SplitRows > 0 && rows > 0:
		z.SplitBytes = max(1, int64(float64(bytes)*float64(z.SplitRows)/float64(rows)))
	case z.SplitRows > 0:
	case bytes > 0 && rows > 0:
		z.SplitRows = max(1, int64(float64(rows)*float64(z.SplitBytes)/float64(bytes)))
	default:
		z.SplitRows = max(1, z.SplitBytes/GuessedRow)
	}
	return z
}
