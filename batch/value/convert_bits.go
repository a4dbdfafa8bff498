package value

import (
	"strconv"

	"github.com/leatdata/leat/batch"
)

func fromBit(to batch.Type) (Converter, bool) {
	switch k := to.Kind; {
	case k == batch.Bool:
		return bitBool, true
	case k == batch.Bytes:
		return bitBytes, true
	case k.IsInteger():
		return bitInteger(k), true
	case k == batch.Decimal:
		return bitInteger(batch.Uint64), true
	}
	return nil, false
}

func bitBool(dst, cell []byte) ([]byte, error) {
	bits, err := ParseBit(cell)
	switch {
	case err != nil:
		return dst, err
	case len(bits) != 1:
		return dst, errBitLength
	}
	return AppendBool(dst, bits[0] == '1'), nil
}

// bitBytes writes the bits as a number, the highest byte first, in as many
// bytes as the bits need.
func bitBytes(dst, cell []byte) ([]byte, error) {
	bits, err := ParseBit(cell)
	if err != nil {
		return dst, err
	}
	if n := len(bits) % 8; n > 0 {
		dst = append(dst, byte(bitNumber(bits[:n])))
		bits = bits[n:]
	}
	return PackBits(dst, bits), nil
}

func bitInteger(k batch.Kind) Converter {
	check := integerCheck(k)
	return func(dst, cell []byte) ([]byte, error) {
		bits, err := ParseBit(cell)
		if err != nil {
			return dst, err
		}
		if len(bits) == 0 {
			return dst, errBit
		}
		bits = bits[zeros(bits):]
		if len(bits) > 64 {
			return dst, errUint64
		}
		start := len(dst)
		dst = AppendUint(dst, bitNumber(bits))
		if err := check(dst[start:]); err != nil {
			return dst[:start], err
		}
		return dst, nil
	}
}

// integerBit writes a number without a sign; for a fixed length with zeros
// before it.
func integerBit(to batch.Type) Converter {
	return func(dst, cell []byte) ([]byte, error) {
		if len(cell) > 0 && cell[0] == '-' {
			return dst, errNegativeBits
		}
		n, err := ParseUint(cell, 64)
		if err != nil {
			return dst, err
		}
		var buf [64]byte
		return appendFilled(dst, strconv.AppendUint(buf[:0], n, 2), to)
	}
}

func appendFilled(dst, bits []byte, to batch.Type) ([]byte, error) {
	if to.Length > 0 {
		for len(bits) > to.Length && bits[0] == '0' {
			bits = bits[1:]
		}
		if len(bits) > to.Length {
			return dst, errBitLength
		}
	}
	if to.Fixed {
		for n := len(bits); n < to.Length; n++ {
			dst = append(dst, '0')
		}
	}
	return append(dst, bits...), nil
}

func fromBytes(to batch.Type, cast bool) (Converter, bool) {
	switch {
	case to.Kind == batch.Bit:
		return bytesBit(to), true
	case to.Kind == batch.UUID && cast:
		return bytesUUID, true
	}
	return nil, false
}

// bytesBit writes eight bits for each byte; zeros before the first that is
// one give way where the type is shorter.
func bytesBit(to batch.Type) Converter {
	var bits []byte
	return func(dst, cell []byte) ([]byte, error) {
		bits = AppendBits(bits[:0], cell, 8*len(cell))
		return appendFilled(dst, bits, to)
	}
}

func bytesUUID(dst, cell []byte) ([]byte, error) {
	if len(cell) != 16 {
		return dst, errUUIDLength
	}
	return AppendUUID(dst, [16]byte(cell)), nil
}

func uuidBytes(dst, cell []byte) ([]byte, error) {
	id, err := ParseUUID(cell)
	if err != nil {
		return dst, err
	}
	return append(dst, id[:]...), nil
}
