//go:build !linux

package gather

import "errors"

// setLowWater cannot be done here: reads never gather.
func (c *Conn) setLowWater(int) error { return errors.ErrUnsupported }

func (c *Conn) readNow([]byte) (int, error) { return 0, nil }
