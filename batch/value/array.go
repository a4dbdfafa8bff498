package value

import "math"

// ArrayToken is a piece of an array literal.
type ArrayToken uint8

// The pieces. ArrayEnd comes after the last.
const (
	ArrayEnd ArrayToken = iota
	ArrayOpen
	ArrayClose
	ArrayElement
)

// MaxDims is the number of dimensions that PostgreSQL's arrays may have.
const MaxDims = 6

// Array walks through a literal such as {1,NULL,"a b"} or [0:1]={{1},{2}}. Its
// zero value needs a Reset, which also makes it ready for another literal; it
// allocates only to undo backslashes, in a buffer that it keeps. Nested
// literals need not be rectangular here: ArrayShape checks that.
type Array struct {
	rest    []byte
	elem    []byte
	scratch []byte
	depth   int
	begun   bool // an opening brace was just read
	after   bool // an element or a closing brace was just read
	done    bool
	// measuring leaves elements with backslashes out: only the shape matters.
	measuring bool
}

// Reset begins with a literal.
func (a *Array) Reset(b []byte) error {
	_, rest, err := arrayBounds(trim(b), nil)
	if err != nil {
		return err
	}
	*a = Array{rest: rest, scratch: a.scratch[:0]}
	return nil
}

// Next returns the next piece; after an error the walk is over.
func (a *Array) Next() (ArrayToken, error) {
	a.space()
	if a.depth == 0 && a.done {
		if len(a.rest) > 0 {
			return ArrayEnd, errArray
		}
		return ArrayEnd, nil
	}
	if len(a.rest) == 0 {
		return ArrayEnd, errArray
	}
	if a.after {
		return a.separator()
	}
	switch a.rest[0] {
	case '{':
		a.rest = a.rest[1:]
		a.depth++
		a.begun = true
		return ArrayOpen, nil
	case '}':
		if !a.begun {
			return ArrayEnd, errArray
		}
		return a.close()
	}
	if a.depth == 0 {
		return ArrayEnd, errArray
	}
	a.begun, a.after = false, true
	if a.rest[0] == '"' {
		return ArrayElement, a.quoted()
	}
	return ArrayElement, a.bare()
}

// Element returns the element that Next found: nil for NULL. It is valid until
// the next call of Next.
func (a *Array) Element() []byte { return a.elem }

// Depth returns how many braces are open.
func (a *Array) Depth() int { return a.depth }

func (a *Array) separator() (ArrayToken, error) {
	switch a.rest[0] {
	case '}':
		return a.close()
	case ',':
		a.rest = a.rest[1:]
		a.after, a.begun = false, false
		return a.Next()
	}
	return ArrayEnd, errArray
}

func (a *Array) close() (ArrayToken, error) {
	a.rest = a.rest[1:]
	a.depth--
	a.begun, a.after = false, true
	a.done = a.depth == 0
	return ArrayClose, nil
}

func (a *Array) space() {
	for len(a.rest) > 0 && isSpace(a.rest[0]) {
		a.rest = a.rest[1:]
	}
}

// quoted reads an element in double quotes.
func (a *Array) quoted() error {
	b := a.rest[1:]
	for i, c := range b {
		switch c {
		case '"':
			a.elem, a.rest = b[:i:i], b[i+1:]
			return nil
		case '\\':
			return a.escaped(b, i)
		}
	}
	return errArray
}

// escaped reads on where quoted found the first backslash, at n.
func (a *Array) escaped(b []byte, n int) error {
	a.keep(b[:n])
	for i := n; i < len(b); i++ {
		switch b[i] {
		case '"':
			a.elem, a.rest = a.scratch, b[i+1:]
			return nil
		case '\\':
			if i++; i == len(b) {
				return errArray
			}
		}
		a.add(b[i])
	}
	return errArray
}

// bare reads an element without quotes.
func (a *Array) bare() error {
	b := a.rest
	for i, c := range b {
		switch c {
		case ',', '}':
			a.elem, a.rest = trim(b[:i:i]), b[i:]
			if len(a.elem) == 0 {
				return errArray
			}
			if fold(a.elem, "null") {
				a.elem = nil
			}
			return nil
		case '\\':
			return a.bareEscaped(b, i)
		case '{', '"':
			return errArray
		}
	}
	return errArray
}

// bareEscaped reads on where bare found the first backslash, at n. Spaces at
// the end stay only where a backslash stands before them.
func (a *Array) bareEscaped(b []byte, n int) error {
	a.keep(b[:n])
	kept := 0
	for i := n; i < len(b); i++ {
		switch b[i] {
		case ',', '}':
			for len(a.scratch) > kept && isSpace(a.scratch[len(a.scratch)-1]) {
				a.scratch = a.scratch[:len(a.scratch)-1]
			}
			a.elem, a.rest = a.scratch, b[i:]
			return nil
		case '{', '"':
			return errArray
		case '\\':
			if i++; i == len(b) {
				return errArray
			}
			kept = len(a.scratch) + 1
		}
		a.add(b[i])
	}
	return errArray
}

// keep begins an element that cannot be a range of the literal.
func (a *Array) keep(b []byte) {
	if !a.measuring {
		a.scratch = append(a.scratch[:0], b...)
	}
}

func (a *Array) add(c byte) {
	if !a.measuring {
		a.scratch = append(a.scratch, c)
	}
}

// Shape is the form of an array: the length of each dimension, outermost
// first, and the index of its first element. An empty array has no dimension.
type Shape struct {
	Dims  int
	Len   [MaxDims]int32
	Lower [MaxDims]int32
}

// ArrayShape checks a literal whole and returns its shape. One that is not
// rectangular, or does not have the bounds it names, is ErrSyntax.
func ArrayShape(b []byte) (Shape, error) {
	var s Shape
	var a Array
	named, rest, err := arrayBounds(trim(b), &s)
	if err != nil {
		return s, err
	}
	a.rest, a.measuring = rest, true
	if err := a.measure(&s); err != nil {
		return s, err
	}
	if s.Dims == 1 && s.Len[0] == 0 && named == 0 {
		return Shape{}, nil
	}
	if named > 0 && named != s.Dims {
		return s, errArray
	}
	return s, nil
}

// measure fills in dimensions and lengths; lengths that are already there,
// named by bounds, have to be met.
func (a *Array) measure(s *Shape) error {
	var count [MaxDims]int32
	var known [MaxDims]bool
	for i := range known {
		known[i] = s.Len[i] > 0
		if !known[i] {
			s.Lower[i] = 1
		}
	}
	deepest := 0 // the depth at which elements stand, once one was seen
	for {
		token, err := a.Next()
		switch {
		case err != nil:
			return err
		case token == ArrayEnd:
			for i := s.Dims; i < MaxDims; i++ {
				s.Lower[i] = 0
			}
			return nil
		case token == ArrayOpen:
			if a.depth > MaxDims || (deepest > 0 && a.depth > deepest) {
				return errArray
			}
			if a.depth > 1 {
				count[a.depth-2]++
			}
			count[a.depth-1] = 0
			s.Dims = max(s.Dims, a.depth)
		case token == ArrayElement:
			if deepest == 0 {
				deepest = s.Dims
			}
			if a.depth != deepest {
				return errArray
			}
			count[a.depth-1]++
		default:
			i := a.depth
			if known[i] && s.Len[i] != count[i] || count[i] == 0 && i > 0 {
				return errArray
			}
			s.Len[i], known[i] = count[i], true
		}
	}
}

// arrayBounds reads [1:3][0:1]= where it is there, into s when that is given,
// and returns the number of dimensions it names and the rest.
func arrayBounds(b []byte, s *Shape) (int, []byte, error) {
	n := 0
	for len(b) > 0 && b[0] == '[' {
		if n == MaxDims {
			return 0, nil, errArray
		}
		lower, upper, end := int64(0), int64(0), 0
		for end < len(b) && b[end] != ']' {
			end++
		}
		if end == len(b) {
			return 0, nil, errArray
		}
		colon := 1
		for colon < end && b[colon] != ':' {
			colon++
		}
		var err error
		if colon < end {
			if lower, err = ParseInt(b[1:colon], 32); err != nil {
				return 0, nil, errArray
			}
			if upper, err = ParseInt(b[colon+1:end], 32); err != nil {
				return 0, nil, errArray
			}
		}
		if colon == end || upper < lower || upper-lower >= math.MaxInt32 {
			return 0, nil, errArray
		}
		if s != nil {
			s.Lower[n], s.Len[n] = int32(lower), int32(upper-lower+1)
		}
		n++
		b = trim(b[end+1:])
	}
	if n > 0 {
		if len(b) == 0 || b[0] != '=' {
			return 0, nil, errArray
		}
		b = trim(b[1:])
	}
	return n, b, nil
}

// AppendArrayElement appends an element as it has to stand in a literal: NULL
// for nil, in quotes where it would else be read as something different.
func AppendArrayElement(dst, elem []byte) []byte {
	if elem == nil {
		return append(dst, "NULL"...)
	}
	if !needsQuotes(elem) {
		return append(dst, elem...)
	}
	dst = append(dst, '"')
	for _, c := range elem {
		if c == '"' || c == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, c)
	}
	return append(dst, '"')
}

func needsQuotes(elem []byte) bool {
	if len(elem) == 0 || fold(elem, "null") {
		return true
	}
	for _, c := range elem {
		switch c {
		case '{', '}', ',', '"', '\\', ' ', '\t', '\n', '\v', '\f', '\r':
			return true
		}
	}
	return false
}
