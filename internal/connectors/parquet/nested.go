package parquet

import (
	"encoding/base64"
	"errors"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

// errShape is the error of levels that contradict one another.
var errShape = errors.New("has levels that make no record")

// nestedColumn is a column of lists, maps or structures, whose records become
// JSON: a structure an object, a list an array, a map an object whose names
// are its keys' texts; numbers with all their digits, NaN and infinities as
// strings; bytes in base64; JSON as it is; all else as a string of its
// canonical text.
type nestedColumn struct {
	root   *node
	index  int
	leaves []*chunk // of the column, in order
	byLeaf map[int]*chunk
	most   int // the longest text so far, 0 before the first

	err error // the value at fault in the current record
}

// longest guesses the length of the next record's text.
func (c *nestedColumn) longest() int {
	if c.most == 0 {
		return batch.MaxBytes
	}
	return 2 * c.most
}

// take puts the next n records where they belong.
func (c *nestedColumn) take(b *batch.Batch, spans []batch.Span, n, width int, faults []fault) ([]fault, error) {
	for i := range n {
		off := len(b.Buf)
		text, null, err := c.record(b.Buf)
		if err != nil {
			return faults, err
		}
		b.Buf = text
		c.most = max(c.most, len(text)-off, 1)
		at := &spans[i*width+c.index]
		switch {
		case c.err != nil:
			b.Buf = b.Buf[:off]
			*at = batch.NullSpan()
			faults = append(faults, fault{i, c.index, c.err})
		case null:
			b.Buf = b.Buf[:off]
			*at = batch.NullSpan()
		default:
			*at = batch.Span{Off: uint32(off), Len: int32(len(text) - off)}
			b.Bytes += int64(len(text) - off)
		}
	}
	return faults, nil
}

// skip passes over a record.
func (c *nestedColumn) skip() error {
	_, _, err := c.record(nil)
	return err
}

// record appends the text of the next record.
func (c *nestedColumn) record(dst []byte) (text []byte, null bool, err error) {
	c.err = nil
	for _, leaf := range c.leaves {
		if err := leaf.fill(); err != nil {
			return dst, false, err
		}
		if leaf.w.repetition() != 0 {
			return dst, false, errShape
		}
	}
	if c.root.Repetition == format.Optional && c.definition(c.root) < c.root.def {
		return dst, true, c.pass(c.root)
	}
	dst, err = c.append(dst, c.root)
	return dst, false, err
}

// definition returns the level of the next value under a node. All leaves of
// it have the same where the node is missing.
func (c *nestedColumn) definition(n *node) int { return c.leafOf(n).w.definition() }

func (c *nestedColumn) leafOf(n *node) *chunk {
	for n.leaf < 0 {
		n = n.parts[0]
	}
	return c.byLeaf[n.leaf]
}

func (w *window) definition() int { return int(w.defs[w.pos]) }

func (w *window) repetition() int {
	if w.pos >= len(w.reps) {
		return 0
	}
	return int(w.reps[w.pos])
}

// pass takes the value that stands in each leaf for a node that is missing.
func (c *nestedColumn) pass(n *node) error {
	if n.leaf < 0 {
		for _, p := range n.parts {
			if err := c.pass(p); err != nil {
				return err
			}
		}
		return nil
	}
	leaf := c.byLeaf[n.leaf]
	if err := leaf.fill(); err != nil {
		return err
	}
	if leaf.w.definition() >= n.def && n.def > 0 {
		return errShape
	}
	leaf.w.pos++
	return nil
}

// append appends a node, which may be repeated or missing.
func (c *nestedColumn) append(dst []byte, n *node) ([]byte, error) {
	switch n.Repetition {
	case format.Repeated:
		return c.appendRepeated(dst, n, c.appendThere)
	case format.Optional:
		if err := c.leafOf(n).fill(); err != nil {
			return dst, err
		}
		if c.definition(n) < n.def {
			return append(dst, "null"...), c.pass(n)
		}
	}
	return c.appendThere(dst, n)
}

// appendRepeated appends an array of a repeated node's occurrences.
func (c *nestedColumn) appendRepeated(dst []byte, n *node, each func([]byte, *node) ([]byte, error)) ([]byte, error) {
	first := c.leafOf(n)
	if err := first.fill(); err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	if first.w.definition() < n.def {
		return append(dst, ']'), c.pass(n)
	}
	for {
		var err error
		if dst, err = each(dst, n); err != nil {
			return dst, err
		}
		again, err := c.again(n)
		if err != nil {
			return dst, err
		}
		if !again {
			return append(dst, ']'), nil
		}
		dst = append(dst, ',')
	}
}

// again reports whether another occurrence of a repeated node follows.
func (c *nestedColumn) again(n *node) (bool, error) {
	leaf := c.leafOf(n)
	if leaf.ended() {
		return false, nil
	}
	if err := leaf.fill(); err != nil {
		return false, err
	}
	rep := leaf.w.repetition()
	if rep > n.rep {
		return false, errShape
	}
	return rep == n.rep, nil
}

// ended reports whether the chunk has given all its values.
func (c *chunk) ended() bool {
	return c.w.pos >= c.w.n && c.left == 0 && c.seen >= c.meta.Values
}

// appendThere appends a node that is there.
func (c *nestedColumn) appendThere(dst []byte, n *node) ([]byte, error) {
	if n.leaf >= 0 {
		return c.appendValue(dst, n)
	}
	if list := n.list(); list != nil {
		return c.appendList(dst, list)
	}
	if entries := n.mapEntries(); entries != nil {
		return c.appendMap(dst, entries)
	}
	return c.appendStructure(dst, n)
}

func (c *nestedColumn) appendStructure(dst []byte, n *node) ([]byte, error) {
	dst = append(dst, '{')
	for i, p := range n.parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = c.appendName(dst, []byte(p.Name))
		var err error
		if dst, err = c.append(dst, p); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (c *nestedColumn) appendName(dst, name []byte) []byte {
	dst, err := value.AppendJSONString(dst, name)
	if err != nil && c.err == nil {
		c.err = err
	}
	return append(dst, ':')
}

// list returns the repeated node of a list's elements; nil for no list.
func (n *node) list() *node {
	if n.Logical.Kind == format.List && len(n.parts) == 1 && n.parts[0].Repetition == format.Repeated {
		return n.parts[0]
	}
	return nil
}

// appendList appends a list in any of the shapes that Parquet's rules for
// older files know.
func (c *nestedColumn) appendList(dst []byte, repeated *node) ([]byte, error) {
	wrapped := repeated.leaf < 0 && len(repeated.parts) == 1 && repeated.Name != "array" && repeated.Logical.Kind == format.Bare
	return c.appendRepeated(dst, repeated, func(dst []byte, n *node) ([]byte, error) {
		if wrapped {
			return c.append(dst, n.parts[0])
		}
		return c.appendThere(dst, n)
	})
}

// mapEntries returns the repeated node of a map's keys and values.
func (n *node) mapEntries() *node {
	if n.Logical.Kind != format.Map || len(n.parts) != 1 {
		return nil
	}
	e := n.parts[0]
	if e.Repetition != format.Repeated || len(e.parts) == 0 || len(e.parts) > 2 || !e.parts[0].single(e) {
		return nil
	}
	return e
}

// single reports whether a part is one required value.
func (n *node) single(of *node) bool { return n.leaf >= 0 && n.rep == of.rep && n.def == of.def }

func (c *nestedColumn) appendMap(dst []byte, entries *node) ([]byte, error) {
	start := len(dst)
	dst, err := c.appendRepeated(dst, entries, func(dst []byte, n *node) ([]byte, error) {
		leaf := c.byLeaf[n.parts[0].leaf]
		if err := leaf.fill(); err != nil {
			return dst, err
		}
		text, err := leaf.takeText()
		if err != nil && c.err == nil {
			c.err = err
		}
		dst = c.appendName(dst, text)
		if len(n.parts) < 2 {
			return append(dst, "null"...), nil
		}
		return c.append(dst, n.parts[1])
	})
	if err == nil {
		dst[start], dst[len(dst)-1] = '{', '}'
	}
	return dst, err
}

// takeText takes the next value, which is there.
func (c *chunk) takeText() ([]byte, error) {
	s := c.w.spans[c.w.pos]
	err := c.w.faults[c.w.pos]
	c.w.pos++
	if s.Len < 0 {
		return nil, err
	}
	return c.w.data[s.Off : s.Off+uint32(s.Len)], nil
}

// appendValue appends a leaf's value, which is there.
func (c *nestedColumn) appendValue(dst []byte, n *node) ([]byte, error) {
	leaf := c.byLeaf[n.leaf]
	if err := leaf.fill(); err != nil {
		return dst, err
	}
	if leaf.w.definition() != n.def {
		return dst, errShape
	}
	text, err := leaf.takeText()
	if err == nil && text != nil {
		dst, err = appendJSONValue(dst, text, leaf.kind)
	}
	if err != nil && c.err == nil {
		c.err = err
	}
	return dst, nil
}

// appendJSONValue appends a canonical text as JSON.
func appendJSONValue(dst, text []byte, k batch.Kind) ([]byte, error) {
	switch {
	case k == batch.Bool, k.IsInteger(), k == batch.Decimal:
		return append(dst, text...), nil
	case k.IsFloat() && text[len(text)-1] <= '9':
		return append(dst, text...), nil
	case k == batch.JSON:
		if !value.ValidJSON(text) {
			return dst, errJSON
		}
		return append(dst, text...), nil
	case k == batch.Bytes:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, text)
		return append(dst, '"'), nil
	}
	return value.AppendJSONString(dst, text)
}
