//go:build !linux

package postgres

import "errors"

// setLowWater cannot be done here: reads never gather.
func (c *gatherConn) setLowWater(int) error { return errors.ErrUnsupported }

func (c *gatherConn) readNow([]byte) (int, error) { return 0, nil }
