package value

import (
	"bytes"

	"github.com/leatdata/leat/batch"
)

// Inference finds the narrowest type from whose canonical text every value of
// a column reads back as the very text it was: a column of 7.10 and 12.00 is
// decimal(4,2), one of 38.9 and 31.95376472 float64, one with 007, +1 or 0E0
// is text. Its zero value is ready. Most values refute most types at the
// first look; a column that can only be text costs nothing more.
type Inference struct {
	refuted  candidate
	seen     bool
	ordinary bool // a number that is not NaN or infinite
	whole    int  // the most digits before the point
	scale    int  // the digits after it, of all numbers
	scaled   bool // scale is known
	scratch  []byte
}

// candidate is a set of types.
type candidate uint16

const (
	isBool candidate = 1 << iota
	isInt
	isDecimal
	isFloat
	isDate
	isTimestamp
	isInstant
	isUUID

	numeric  = isInt | isDecimal | isFloat
	temporal = isDate | isTimestamp | isInstant
	anything = isBool | numeric | temporal | isUUID
)

// maxInferred is the largest precision that Inference gives a decimal; more
// digits are text.
const maxInferred = 38

// Add takes one more value; nil is NULL and says nothing.
func (n *Inference) Add(cell []byte) {
	if cell == nil {
		return
	}
	n.seen = true
	live := anything &^ n.refuted
	if live == 0 {
		return
	}
	fits := candidate(0)
	if live&numeric != 0 {
		fits = n.number(cell, live)
	}
	if fits == 0 {
		switch {
		case live&isBool != 0 && (string(cell) == "true" || string(cell) == "false"):
			fits = isBool
		case live&temporal != 0 && len(cell) >= 10 && cell[4] == '-':
			fits = n.time(cell, live)
		}
		if fits == 0 && live&isUUID != 0 && n.prints(cell, canonicalUUID) {
			fits = isUUID
		}
	}
	n.refuted |= anything &^ fits
}

// IsText reports that the type is Text, whatever else the column holds.
func (n *Inference) IsText() bool { return n.refuted == anything }

// number returns which of the numeric types keep the text.
func (n *Inference) number(cell []byte, live candidate) candidate {
	b := cell
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	whole := digits(b)
	plain := whole > 0 && (b[0] != '0' || whole == 1)
	scale := 0
	if plain && whole < len(b) {
		scale = digits(b[whole+1:])
		plain = b[whole] == '.' && scale > 0 && whole+1+scale == len(b)
	}
	if !plain {
		if live&isFloat != 0 && n.prints(cell, appendFloat64) {
			n.ordinary = n.ordinary || len(b) > 0 && isDigit(b[0])
			return isFloat
		}
		return 0
	}
	significant := b
	for len(significant) > 0 && (significant[0] == '0' || significant[0] == '.') {
		significant = significant[1:]
	}
	if len(significant) == 0 && len(b) < len(cell) {
		if scale == 0 {
			n.ordinary = true
			return isFloat // -0
		}
		return 0 // -0.0
	}
	n.ordinary = true
	fits := n.decimal(whole, scale)
	if scale == 0 {
		const always = 18 // digits that are an int64
		if whole <= always {
			fits |= isInt
		} else if _, err := ParseInt(cell, 64); err == nil {
			fits |= isInt
		}
	}
	// No two numbers of at most 15 digits are the same float64, so none has a
	// shorter text, but for zeros at its end.
	short := len(significant) <= 15 && len(b)-len(significant) <= 5 && (scale == 0 || b[len(b)-1] != '0')
	if short || live&isFloat != 0 && n.prints(cell, appendFloat64) {
		fits |= isFloat
	}
	return fits
}

// decimal notes the digits of a number and says whether one decimal type
// keeps all so far.
func (n *Inference) decimal(whole, scale int) candidate {
	if n.scaled && n.scale != scale {
		n.refuted |= isDecimal
		return 0
	}
	n.whole = max(n.whole, whole)
	n.scale, n.scaled = scale, true
	if n.whole+scale > maxInferred {
		return 0
	}
	return isDecimal
}

func (n *Inference) time(cell []byte, live candidate) candidate {
	if bytes.HasSuffix(cell, []byte("BC")) || bytes.HasPrefix(cell, []byte("0000")) {
		return 0
	}
	switch {
	case len(cell) == 10:
		if live&isDate != 0 && n.prints(cell, canonicalDate) {
			return isDate
		}
	case live&isTimestamp != 0 && n.prints(cell, appendTimestamp):
		return isTimestamp
	case live&isInstant != 0 && n.prints(cell, appendInstant):
		return isInstant
	}
	return 0
}

func appendFloat64(dst, cell []byte) ([]byte, error) {
	v, err := ParseFloat(cell, 64)
	return AppendFloat(dst, v, 64), err
}

func appendTimestamp(dst, cell []byte) ([]byte, error) {
	t, err := ParseTimestamp(cell)
	return AppendTimestamp(dst, t), err
}

func appendInstant(dst, cell []byte) ([]byte, error) {
	t, err := ParseInstant(cell)
	return AppendInstant(dst, t), err
}

// prints reports whether a text is its own canonical text.
func (n *Inference) prints(cell []byte, canonical Converter) bool {
	text, err := canonical(n.scratch[:0], cell)
	n.scratch = text
	return err == nil && bytes.Equal(text, cell)
}

// Merge takes in all values that another has seen.
func (n *Inference) Merge(o *Inference) {
	n.refuted |= o.refuted
	n.seen = n.seen || o.seen
	n.ordinary = n.ordinary || o.ordinary
	if o.scaled && n.decimal(o.whole, o.scale) == 0 {
		n.refuted |= isDecimal
	}
}

// Type returns the type for all values so far; Text where there were none.
func (n *Inference) Type() batch.Type {
	live := anything &^ n.refuted
	if !n.seen {
		live = 0
	}
	switch {
	case live&isBool != 0:
		return batch.Of(batch.Bool)
	case live&isInt != 0:
		return batch.Of(batch.Int64)
	case live&isDecimal != 0:
		return batch.Type{Kind: batch.Decimal, Precision: n.whole + n.scale, Scale: n.scale}
	case live&isFloat != 0 && n.ordinary:
		return batch.Of(batch.Float64)
	case live&isDate != 0:
		return batch.Of(batch.Date)
	case live&isTimestamp != 0:
		return batch.Of(batch.Timestamp)
	case live&isInstant != 0:
		return batch.Of(batch.Instant)
	case live&isUUID != 0:
		return batch.Of(batch.UUID)
	}
	return batch.Of(batch.Text)
}
