package value

// Date is a day of the proleptic Gregorian calendar, as the number of days
// since 2000-01-01: PostgreSQL's own count.
type Date int32

// Dates that are no days. DateZero is MySQL's 0000-00-00. The infinities are
// PostgreSQL's own.
const (
	DateInfinity    Date = 1<<31 - 1
	DateNegInfinity Date = -1 << 31
	DateZero        Date = -1<<31 + 1
)

// UnixDays is the number of days from 1970-01-01 to 2000-01-01: a Date plus
// UnixDays counts from 1970.
const UnixDays = 10957

// IsSpecial reports whether d is an infinity or DateZero.
func (d Date) IsSpecial() bool { return d <= DateZero || d == DateInfinity }

// Civil returns the day's year (0 is 1 BC, -1 is 2 BC), month and day.
func (d Date) Civil() (year, month, day int) { return civil(int64(d)) }

// DateOf returns the day of an astronomical year (0 is 1 BC), month and day.
func DateOf(year, month, day int) (Date, error) {
	if month < 1 || month > 12 || day < 1 || day > monthDays(year, month) {
		return 0, errNoSuchDay
	}
	n := daysOf(year, month, day)
	if n <= int64(DateZero) || n >= int64(DateInfinity) {
		return 0, errDateRange
	}
	return Date(n), nil
}

// ParseDate reads year-month-day: a year of four or more digits, - or / between,
// month and day of one or two digits; " BC" behind; infinity, -infinity; and
// MySQL's 0000-00-00. Spaces around are fine. A day that the calendar lacks,
// as 2023-02-30 or any in year 0, is out of range.
func ParseDate(b []byte) (Date, error) {
	if len(b) == 10 {
		if d, ok := plainDate(b); ok {
			return d, nil
		}
	}
	b = trim(b)
	if v := infinity(b); v != 0 {
		if v > 0 {
			return DateInfinity, nil
		}
		return DateNegInfinity, nil
	}
	b, bc := cutBC(b)
	n, d, err := scanDate(b, bc)
	if err != nil {
		return 0, err
	}
	if n != len(b) {
		return 0, errDate
	}
	return d, nil
}

// AppendDate appends the day: 2024-01-31, 0044-03-15 BC.
func AppendDate(dst []byte, d Date) []byte {
	switch d {
	case DateInfinity:
		return append(dst, "infinity"...)
	case DateNegInfinity:
		return append(dst, "-infinity"...)
	case DateZero:
		return append(dst, "0000-00-00"...)
	}
	dst, bc := appendDay(dst, int64(d))
	if bc {
		dst = append(dst, " BC"...)
	}
	return dst
}

// plainDate is the short way for YYYY-MM-DD, the first ten bytes of b; what is
// out of the ordinary goes the long way.
func plainDate(b []byte) (Date, bool) {
	_ = b[9]
	y0, y1, y2, y3 := b[0]-'0', b[1]-'0', b[2]-'0', b[3]-'0'
	m0, m1, d0, d1 := b[5]-'0', b[6]-'0', b[8]-'0', b[9]-'0'
	if b[4] != '-' || b[7] != '-' || y0 > 9 || y1 > 9 || y2 > 9 || y3 > 9 || m0 > 1 || m1 > 9 || d0 > 3 || d1 > 9 {
		return 0, false
	}
	year := int(y0)*1000 + int(y1)*100 + int(y2)*10 + int(y3)
	month, day := int(m0)*10+int(m1), int(d0)*10+int(d1)
	if year == 0 || month == 0 || month > 12 || day == 0 || day > 28 && day > monthDays(year, month) {
		return 0, false
	}
	// As daysOf, for years above zero.
	y, m := uint32(year), uint32(month)+9
	if month <= 2 {
		y--
	} else {
		m -= 12
	}
	return Date(365*y + y/4 - y/100 + y/400 + (153*m+2)/5 + uint32(day) - 1 - eraStart), true
}

// cutBC cuts " BC" off the end.
func cutBC(b []byte) ([]byte, bool) {
	n := len(b)
	if n > 3 && b[n-1]|0x20 == 'c' && b[n-2]|0x20 == 'b' && b[n-3] == ' ' {
		return trim(b[:n-3]), true
	}
	return b, false
}

// scanDate reads the date at the beginning of b and returns its length.
func scanDate(b []byte, bc bool) (int, Date, error) {
	y := digits(b)
	if y < 4 || len(b) < y+4 || (b[y] != '-' && b[y] != '/') {
		return 0, 0, errDate
	}
	sep := b[y]
	n := y + 1
	m := min(2, digits(b[n:]))
	if m == 0 || len(b) < n+m+2 || b[n+m] != sep {
		return 0, 0, errDate
	}
	month := small(b[n : n+m])
	n += m + 1
	m = min(2, digits(b[n:]))
	if m == 0 || (len(b) > n+m && isDigit(b[n+m])) {
		return 0, 0, errDate
	}
	day := small(b[n : n+m])
	n += m
	if y > 8 {
		return 0, 0, errDateRange
	}
	year := small(b[:y])
	if year == 0 {
		if month == 0 && day == 0 && !bc {
			return n, DateZero, nil
		}
		return 0, 0, errNoSuchDay
	}
	if bc {
		year = 1 - year
	}
	d, err := DateOf(year, month, day)
	return n, d, err
}

func appendDay(dst []byte, days int64) (_ []byte, bc bool) {
	year, month, day := civil(days)
	if year <= 0 {
		year, bc = 1-year, true
	}
	if year > 9999 {
		dst = AppendInt(dst, int64(year/10000))
		year %= 10000
	}
	y, m, d := uint32(year), uint32(month), uint32(day)
	high, low := y/100, y%100
	return append(dst, '0'+byte(high/10), '0'+byte(high%10), '0'+byte(low/10), '0'+byte(low%10),
		'-', '0'+byte(m/10), '0'+byte(m%10), '-', '0'+byte(d/10), '0'+byte(d%10)), bc
}

func monthDays(year, month int) int {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

// The calendar repeats every 400 years of 146097 days. Years here begin in
// March, so that the leap day comes last; day 0 of the era count is
// 0000-03-01, which is 730425 days before 2000-01-01.
const (
	eraDays  = 146097
	eraStart = 730425
)

func daysOf(year, month, day int) int64 {
	y := int64(year)
	if month <= 2 {
		y--
	}
	era := floorDiv(y, 400)
	yearOfEra := y - era*400
	dayOfYear := int64((153*((month+9)%12)+2)/5 + day - 1)
	return era*eraDays + yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear - eraStart
}

func civil(days int64) (year, month, day int) {
	days += eraStart
	if uint64(days) < 1<<29 {
		y, m, d := civil32(uint32(days))
		return int(y), int(m), int(d)
	}
	era := floorDiv(days, eraDays)
	y, m, d := civil32(uint32(days - era*eraDays))
	return int(era*400) + int(y), int(m), int(d)
}

// civil32 returns the date of a day counted from 0000-03-01, below 2^29. It is
// the algorithm of Neri and Schneider, "Euclidean affine functions and their
// application to calendar algorithms" (2023): multiplications for divisions.
func civil32(n uint32) (year, month, day uint32) {
	n = 4*n + 3
	century := n / eraDays
	n = n%eraDays | 3
	product := 2939745 * uint64(n)
	yearOfCentury := uint32(product >> 32)
	dayOfYear := uint32(product) / 2939745 / 4
	n = 2141*dayOfYear + 197913
	year, month, day = 100*century+yearOfCentury, n>>16, n&0xffff/2141+1
	if dayOfYear >= 306 {
		return year + 1, month - 12, day
	}
	return year, month, day
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
