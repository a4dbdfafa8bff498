package value

import (
	"bytes"
	"errors"
	"math"
	"strings"
)

// ParseInterval reads ISO 8601 (P1Y2M3DT4H5M6.7S, W for weeks, a sign before
// any number or the P) and what PostgreSQL writes by default (1 year 2 mons
// -3 days 04:05:06.7). Only seconds may have a fraction; one finer than a
// microsecond is ErrPrecision.
func ParseInterval(b []byte) (Interval, error) {
	b = trim(b)
	if sign := infinity(b); sign != 0 {
		return InfiniteInterval(sign), nil
	}
	p := intervalParser{rest: b}
	if i := bytes.IndexByte(b, 'P'); i == 0 || i == 1 && (b[0] == '-' || b[0] == '+') {
		p.rest = b[i+1:]
		p.negate = b[0] == '-'
		return p.result(p.iso())
	}
	if len(b) > 0 && b[0] == '@' {
		p.rest = trim(b[1:])
		if len(p.rest) == 1 && p.rest[0] == '0' {
			return Interval{}, nil
		}
	}
	if n := len(p.rest); n > 4 && fold(p.rest[n-3:], "ago") && isSpace(p.rest[n-4]) {
		p.rest = trim(p.rest[:n-4])
		p.negate = true
	}
	return p.result(p.words())
}

type intervalParser struct {
	rest   []byte
	negate bool
	months int64
	days   int64
	micros int64
}

// number is a signed number with a fraction of a second's digits.
type number struct {
	neg      bool
	n        int64
	fraction int64 // millionths
	point    bool  // there was a fraction
}

func (p *intervalParser) result(err error) (Interval, error) {
	switch {
	case err != nil:
		return Interval{}, err
	case p.months < math.MinInt32, p.months > math.MaxInt32, p.days < math.MinInt32, p.days > math.MaxInt32:
		return Interval{}, errIntervalRange
	}
	v := Interval{Months: int32(p.months), Days: int32(p.days), Micros: p.micros}
	if v.IsSpecial() {
		return Interval{}, errIntervalRange
	}
	return v, nil
}

// iso reads what follows the P: each unit once and in order.
func (p *intervalParser) iso() error {
	if len(p.rest) == 0 {
		return errInterval
	}
	units := "YMWD"
	for len(p.rest) > 0 {
		if p.rest[0] == 'T' && units[len(units)-1] == 'D' {
			units = "hms"
			p.rest = p.rest[1:]
			if len(p.rest) == 0 {
				return errInterval
			}
		}
		v, err := p.number()
		if err != nil {
			return err
		}
		if len(p.rest) == 0 {
			return errInterval
		}
		unit := p.rest[0]
		if units[len(units)-1] == 's' {
			unit |= 0x20
		}
		i := strings.IndexByte(units, unit)
		if i < 0 || (p.rest[0]|0x20 == p.rest[0]) {
			return errInterval
		}
		p.rest = p.rest[1:]
		if err := p.add(v, unit); err != nil {
			return err
		}
		if i == len(units)-1 && len(p.rest) > 0 && (unit == 's' || p.rest[0] != 'T') {
			return errInterval
		}
		if i < len(units)-1 {
			units = units[i+1:]
		}
	}
	return nil
}

// words reads numbers with units, and a time.
func (p *intervalParser) words() error {
	if len(p.rest) == 0 {
		return errInterval
	}
	for len(p.rest) > 0 {
		if n := clockLength(p.rest); n > 0 {
			if err := p.clock(p.rest[:n]); err != nil {
				return err
			}
			p.rest = trim(p.rest[n:])
			continue
		}
		v, err := p.number()
		if err != nil {
			return err
		}
		p.rest = trim(p.rest)
		n := 0
		for n < len(p.rest) && p.rest[n]|0x20 >= 'a' && p.rest[n]|0x20 <= 'z' {
			n++
		}
		unit := intervalUnit(p.rest[:n])
		if unit == 0 {
			return errInterval
		}
		p.rest = trim(p.rest[n:])
		if err := p.add(v, unit); err != nil {
			return err
		}
	}
	return nil
}

// clockLength returns the length of the word that b begins with when it has a colon.
func clockLength(b []byte) int {
	n := 0
	for n < len(b) && !isSpace(b[n]) {
		n++
	}
	if bytes.IndexByte(b[:n], ':') < 0 {
		return 0
	}
	return n
}

func (p *intervalParser) clock(b []byte) error {
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	h := digits(b)
	if h == 0 {
		return errInterval
	}
	if h > 10 {
		return errIntervalRange
	}
	nanos, n, err := scanMinutes(b[h:])
	if err != nil {
		if errors.Is(err, errTime) {
			err = errInterval
		}
		return err
	}
	switch {
	case n != len(b)-h:
		return errInterval
	case nanos%1000 != 0:
		return errFraction
	}
	hours, _ := ParseInt(b[:h], 64)
	if err := p.add(number{neg: neg, n: hours}, 'h'); err != nil {
		return err
	}
	return p.add(number{neg: neg, fraction: nanos / 1000, point: true}, 's')
}

func (p *intervalParser) number() (number, error) {
	var v number
	if len(p.rest) > 0 && (p.rest[0] == '-' || p.rest[0] == '+') {
		v.neg = p.rest[0] == '-'
		p.rest = p.rest[1:]
	}
	n := digits(p.rest)
	if n == 0 {
		return v, errInterval
	}
	if n > 18 {
		return v, errIntervalRange
	}
	v.n, _ = ParseInt(p.rest[:n], 64)
	p.rest = p.rest[n:]
	if len(p.rest) > 1 && p.rest[0] == '.' {
		n = digits(p.rest[1:])
		nanos, err := nanosOf(p.rest[1 : n+1])
		if err != nil || nanos%1000 != 0 {
			return v, errFraction
		}
		v.fraction, v.point = int64(nanos/1000), n > 0
		p.rest = p.rest[n+1:]
	}
	return v, nil
}

// add adds a number of a unit: Y M W D, h m s.
func (p *intervalParser) add(v number, unit byte) error {
	if v.point && unit != 's' {
		return errInterval
	}
	sum, factor := &p.micros, Second
	switch unit {
	case 'Y':
		sum, factor = &p.months, 12
	case 'M':
		sum, factor = &p.months, 1
	case 'W':
		sum, factor = &p.days, 7
	case 'D':
		sum, factor = &p.days, 1
	case 'h':
		factor = Hour
	case 'm':
		factor = Minute
	}
	if v.n > (math.MaxInt64-v.fraction)/factor {
		return errIntervalRange
	}
	n := v.n*factor + v.fraction
	if v.neg != p.negate {
		n = -n
	}
	total := *sum + n
	if (n > 0) != (total > *sum) && n != 0 {
		return errIntervalRange
	}
	*sum = total
	return nil
}

func intervalUnit(word []byte) byte {
	if n := len(word); n > 1 && word[n-1]|0x20 == 's' {
		word = word[:n-1]
	}
	switch {
	case fold(word, "year"), fold(word, "yr"), fold(word, "y"):
		return 'Y'
	case fold(word, "mon"), fold(word, "month"):
		return 'M'
	case fold(word, "week"):
		return 'W'
	case fold(word, "day"), fold(word, "d"):
		return 'D'
	case fold(word, "hour"), fold(word, "hr"), fold(word, "h"):
		return 'h'
	case fold(word, "min"), fold(word, "minute"):
		return 'm'
	case fold(word, "sec"), fold(word, "second"), fold(word, "s"):
		return 's'
	}
	return 0
}
