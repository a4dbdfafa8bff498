package elect

import (
	"errors"
	"io/fs"
	"os/exec"
)

// The exit codes of a shell for a command that cannot be run.
const (
	codeCannotRun = 126
	codeNotFound  = 127
)

// notFoundCode tells a command that is not there from one that may not be run.
func notFoundCode(err error) int {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return codeNotFound
	}
	return codeCannotRun
}
