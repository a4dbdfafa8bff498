package postgres

import (
	"encoding/binary"
	"math"

	"github.com/leatdata/leat/batch/value"
)

func appendFloat4(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseFloat(cell, 32)
	return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(v))), err
}

func appendFloat8(_ *encoder, dst, cell []byte) ([]byte, error) {
	v, ok := plainFloat(cell)
	if ok {
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(v)), nil
	}
	v, err := value.ParseFloat(cell, 64)
	return binary.BigEndian.AppendUint64(dst, math.Float64bits(v)), err
}

// plainFloat reads a number of up to 15 digits that is written the usual way.
// Both the digits as a whole number and the power of ten are then exact, so
// that their quotient is the nearest float.
func plainFloat(cell []byte) (float64, bool) {
	v, _, scale, neg, ok := plainNumber(cell, 15)
	if !ok {
		return 0, false
	}
	f := float64(v) / tens[scale]
	if neg {
		f = -f
	}
	return f, true
}

var tens = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15} //nolint:gochecknoglobals // a constant table
