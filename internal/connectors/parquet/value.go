package parquet

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

var (
	errUTF8      = errors.New("is not valid UTF-8")
	errJSON      = errors.New("is not JSON")
	errNoDay     = errors.New("is no day that Parquet can hold: it has no infinity, nor a zero date")
	errTimeOfDay = errors.New("is no time of day from 00:00:00 until 24:00:00, which is all that Parquet can hold")
	errNanoRange = errors.New("is outside of the years 1677 to 2262, which is all that nanoseconds since 1970 reach")
	errRange     = errors.New("is outside of what microseconds since 1970 reach")
	errSpecial   = errors.New("is no number that a decimal of Parquet can hold")
	errTooLong   = errors.New("is longer than 1 GiB")
)

// appendValue appends what PLAIN encoding writes of a cell that is not NULL,
// or says why Parquet cannot hold it. dst is then as it was. A bool has a byte
// here, and a bit in the file.
type appendValue func(dst, cell []byte) ([]byte, error)

// valueOf returns how cells of a type that targetType has chosen are written.
// valid says that they are known to be UTF-8.
func valueOf(t batch.Type, valid bool) appendValue {
	switch k := t.Kind; {
	case k.IsInteger():
		return integerValue(k)
	case k.IsFloat():
		return floatValue(k)
	case k == batch.Decimal:
		return decimalValue(t)
	case k == batch.Bytes, k == batch.Text && valid:
		return appendBytes
	case k == batch.Text:
		return appendText
	}
	switch t.Kind {
	case batch.Bool:
		return appendBool
	case batch.Date:
		return appendDate
	case batch.Time:
		return timeValue(unitOf(t))
	case batch.Timestamp, batch.Instant:
		return momentValue(unitOf(t), t.Kind == batch.Instant)
	case batch.UUID:
		return appendUUID
	case batch.JSON:
		return appendJSON
	}
	return appendText
}

func append32(dst []byte, v int32) []byte { return binary.LittleEndian.AppendUint32(dst, uint32(v)) }

func append64(dst []byte, v int64) []byte { return binary.LittleEndian.AppendUint64(dst, uint64(v)) }

func appendBytes(dst, cell []byte) ([]byte, error) {
	if len(cell) > 1<<30 {
		return dst, errTooLong
	}
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(cell))), cell...), nil
}

func appendText(dst, cell []byte) ([]byte, error) {
	if !value.ValidUTF8(cell) {
		return dst, errUTF8
	}
	return appendBytes(dst, cell)
}

func appendJSON(dst, cell []byte) ([]byte, error) {
	if !value.ValidJSON(cell) {
		return dst, errJSON
	}
	return appendBytes(dst, cell)
}

func appendBool(dst, cell []byte) ([]byte, error) {
	v, err := value.ParseBool(cell)
	switch {
	case err != nil:
		return dst, err
	case v:
		return append(dst, 1), nil
	}
	return append(dst, 0), nil
}

func integerValue(k batch.Kind) appendValue {
	bits := 8 << ((k - batch.Int8) % 4)
	if k >= batch.Uint8 {
		return func(dst, cell []byte) ([]byte, error) {
			v, err := value.ParseUint(cell, bits)
			switch {
			case err != nil:
				return dst, err
			case bits == 64:
				return append64(dst, int64(v)), nil
			}
			return append32(dst, int32(v)), nil
		}
	}
	if bits == 64 {
		return func(dst, cell []byte) ([]byte, error) {
			v, err := value.ParseInt(cell, 64)
			if err != nil {
				return dst, err
			}
			return append64(dst, v), nil
		}
	}
	return func(dst, cell []byte) ([]byte, error) {
		v, err := value.ParseInt(cell, bits)
		if err != nil {
			return dst, err
		}
		return append32(dst, int32(v)), nil
	}
}

func floatValue(k batch.Kind) appendValue {
	if k == batch.Float32 {
		return func(dst, cell []byte) ([]byte, error) {
			v, err := value.ParseFloat(cell, 32)
			if err != nil {
				return dst, err
			}
			return binary.LittleEndian.AppendUint32(dst, math.Float32bits(float32(v))), nil
		}
	}
	return func(dst, cell []byte) ([]byte, error) {
		v, err := value.ParseFloat(cell, 64)
		if err != nil {
			return dst, err
		}
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v)), nil
	}
}

func appendDate(dst, cell []byte) ([]byte, error) {
	d, err := value.ParseDate(cell)
	switch {
	case err != nil:
		return dst, err
	case d.IsSpecial(), int64(d)+value.UnixDays > math.MaxInt32:
		return dst, errNoDay
	}
	return append32(dst, int32(d)+value.UnixDays), nil
}

func timeValue(unit format.Unit) appendValue {
	return func(dst, cell []byte) ([]byte, error) {
		nanos, err := value.ParseTimeNanos(cell)
		switch {
		case err != nil:
			return dst, err
		case nanos < 0 || nanos >= value.Day*1000:
			return dst, errTimeOfDay
		case unit == format.Nanos:
			return append64(dst, nanos), nil
		}
		micros, err := value.ParseTime(cell) // which says what is finer
		if err != nil {
			return dst, err
		}
		return append64(dst, int64(micros)), nil
	}
}

func momentValue(unit format.Unit, instant bool) appendValue {
	if unit == format.Nanos {
		return nanosValue(instant)
	}
	parse := value.ParseTimestamp
	if instant {
		parse = value.ParseInstant
	}
	return func(dst, cell []byte) ([]byte, error) {
		t, err := parse(cell)
		switch {
		case err != nil:
			return dst, err
		case t.IsSpecial():
			return dst, errNoDay
		case int64(t) > math.MaxInt64-value.UnixMicros:
			return dst, errRange
		}
		return append64(dst, int64(t)+value.UnixMicros), nil
	}
}

func nanosValue(instant bool) appendValue {
	const days = math.MaxInt64 / (value.Day * 1000) // since 1970, whole ones
	return func(dst, cell []byte) ([]byte, error) {
		day, nanos, err := value.ParseMoment(cell, instant)
		if err != nil {
			return dst, err
		}
		since := int64(day) + value.UnixDays
		switch {
		case day.IsSpecial():
			return dst, errNoDay
		case since < -days || since >= days:
			return dst, errNanoRange
		}
		return append64(dst, since*value.Day*1000+nanos), nil
	}
}

func appendUUID(dst, cell []byte) ([]byte, error) {
	id, err := value.ParseUUID(cell)
	if err != nil {
		return dst, err
	}
	return append(dst, id[:]...), nil
}
