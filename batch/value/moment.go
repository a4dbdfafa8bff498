package value

// ParseMoment reads as ParseTimestamp does, or as ParseInstant when instant, but
// to the nanosecond: the day, which may be special, and the nanoseconds of it.
func ParseMoment(b []byte, instant bool) (day Date, nanos int64, err error) {
	m, err := parseWall(b, instant)
	return m.date, m.nanos, err
}

// AppendMoment appends the canonical text of a Timestamp, or of an Instant, to
// the nanosecond.
func AppendMoment(dst []byte, day Date, nanos int64, instant bool) []byte {
	return moment{date: day, nanos: nanos}.append(dst, instant)
}

// ParseTimeNanos reads as ParseTime does, but to the nanosecond.
func ParseTimeNanos(b []byte) (int64, error) {
	nanos, _, err := parseTime(b)
	return nanos, err
}

// AppendTimeNanos appends as AppendTime does, but to the nanosecond.
func AppendTimeNanos(dst []byte, nanos int64) []byte { return appendClock(dst, nanos) }
