package database

import (
	"errors"
	"fmt"

	"github.com/leatdata/leat/connector"
)

// Wrap says what was being done and gives the error its class, which classify
// finds unless it has one.
func Wrap(doing string, err error, classify func(error) connector.Class) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*connector.Error](err); ok {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return connector.E(classify(err), fmt.Errorf("%s: %w", doing, err))
}
