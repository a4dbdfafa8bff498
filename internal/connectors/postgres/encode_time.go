package postgres

import (
	"encoding/binary"

	"github.com/leatdata/leat/batch/value"
)

func appendDate(_ *encoder, dst, cell []byte) ([]byte, error) {
	d, err := value.ParseDate(cell)
	if err == nil && (d < minDate || d >= endDate) && d != value.DateInfinity && d != value.DateNegInfinity {
		err = errDateRange
	}
	return binary.BigEndian.AppendUint32(dst, uint32(d)), err
}

func appendTime(e *encoder, dst, cell []byte) ([]byte, error) {
	t, err := value.ParseTime(cell)
	switch {
	case err != nil:
	case t < 0 || int64(t) > value.Day:
		err = errTimeRange
	case int64(t)%e.unit != 0:
		err = errRounded
	}
	return binary.BigEndian.AppendUint64(dst, uint64(t)), err
}

// appendTimeTZ sends the zone as seconds to the west.
func appendTimeTZ(e *encoder, dst, cell []byte) ([]byte, error) {
	t, err := value.ParseTimeTZ(cell)
	if err == nil && int64(t.Time)%e.unit != 0 {
		err = errRounded
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(t.Time))
	return binary.BigEndian.AppendUint32(dst, uint32(-t.Offset)), err
}

func appendTimestamp(e *encoder, dst, cell []byte) ([]byte, error) {
	t, err := value.ParseTimestamp(cell)
	if err == nil {
		err = e.checkMoment(t)
	}
	return binary.BigEndian.AppendUint64(dst, uint64(t)), err
}

func appendInstant(e *encoder, dst, cell []byte) ([]byte, error) {
	t, err := value.ParseInstant(cell)
	if err == nil {
		err = e.checkMoment(t)
	}
	return binary.BigEndian.AppendUint64(dst, uint64(t)), err
}

func (e *encoder) checkMoment(t value.Timestamp) error {
	switch {
	case t == value.TimestampInfinity || t == value.TimestampNegInfinity:
		return nil
	case t < minTimestamp || t >= endTimestamp:
		return errDateRange
	case int64(t)%e.unit != 0:
		return errRounded
	}
	return nil
}

func appendInterval(e *encoder, dst, cell []byte) ([]byte, error) {
	v, err := value.ParseInterval(cell)
	if err == nil {
		err = e.checkInterval(v)
	}
	dst = binary.BigEndian.AppendUint64(dst, uint64(v.Micros))
	dst = binary.BigEndian.AppendUint32(dst, uint32(v.Days))
	return binary.BigEndian.AppendUint32(dst, uint32(v.Months)), err
}

// checkInterval refuses what the server would round or drop without a word.
func (e *encoder) checkInterval(v value.Interval) error {
	if v.IsSpecial() {
		if e.infinity {
			return nil
		}
		return errNotInfinite
	}
	switch {
	case e.field < 0 && v.Micros != 0, e.field < -1 && v.Days != 0, e.field == -3 && v.Months%12 != 0:
		return errInterval
	case e.field > 1 && v.Micros%e.field != 0:
		return errInterval
	case v.Micros%e.unit != 0:
		return errRounded
	}
	return nil
}
