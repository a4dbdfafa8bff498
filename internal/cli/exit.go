package cli

import (
	"context"
	"errors"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/elect"
	"github.com/leatdata/leat/internal/local"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitDirty       = 3
	exitInterrupted = 130
)

// exitCode is the table from a command's error to the process's exit code.
func exitCode(ctx context.Context, err error) int {
	if exit, ok := errors.AsType[*elect.Exit](err); ok {
		return exit.Code
	}
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, local.ErrInterrupted), ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, local.ErrDirtyLimit):
		return exitDirty
	case connector.ClassOf(err) == connector.Usage:
		return exitUsage
	}
	return exitFailed
}

// usagef makes an error of wrong use.
func usagef(format string, args ...any) error {
	return connector.Errorf(connector.Usage, format, args...)
}
