package cli

import (
	"strings"
	"unsafe"

	"github.com/leatdata/leat/connector/option"
)

// TakeArguments returns a copy of the process's arguments, and takes the
// passwords out of the originals: on Linux these are the memory that `ps` and
// /proc show. What read them before the process had started cannot be helped.
func TakeArguments(args []string) []string {
	taken := make([]string, len(args))
	for i, arg := range args {
		taken[i] = strings.Clone(arg)
		if from, to := secretPart(arg); from < to {
			blank(arg, from, to)
		}
	}
	return taken
}

// secretPart returns the range of an argument that masking would replace.
func secretPart(arg string) (from, to int) {
	masked := option.MaskURL(arg)
	if masked == arg {
		return 0, 0
	}
	most := min(len(arg), len(masked))
	for from < most && arg[from] == masked[from] {
		from++
	}
	end := 0
	for end < most-from && arg[len(arg)-1-end] == masked[len(masked)-1-end] {
		end++
	}
	return from, len(arg) - end
}

// blank overwrites a part of an argument in place. Go's arguments are the
// kernel's own block of memory, which may be written.
func blank(arg string, from, to int) {
	block := unsafe.Slice(unsafe.StringData(arg), len(arg))
	for i := from; i < to; i++ {
		block[i] = '*'
	}
}
