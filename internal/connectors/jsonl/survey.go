package jsonl

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
	cells "github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector"
)

// maxColumns bounds the keys that are taken for columns.
const maxColumns = 4096

// survey finds the keys of objects, in the order of their first appearance,
// and what their values allow. It is a files.Decoder that gives no records.
// Lines that are dirty say nothing.
type survey struct {
	keys   []*keySurvey
	byName map[string]*keySurvey
	scan   scanner
	name   []byte
	line   []member
	lineNo int64
	// objects counts the lines that are objects; broken is the first that is
	// not, and why.
	objects int64
	broken  brokenLine
}

// brokenLine is a line that is no object.
type brokenLine struct {
	file   string
	line   int64
	reason string
}

// String names the line and what is wrong with it.
func (b brokenLine) String() string {
	return fmt.Sprintf("%s: line %d: %s", b.file, b.line, b.reason)
}

// member is a key of the line at hand.
type member struct {
	key   *keySurvey
	value value
}

// keySurvey is what was seen of one key's values.
type keySurvey struct {
	name   string
	lineNo int64 // of the last line that has it
	kinds  kind
	// texts says what the values' texts allow; exotic that a number has an
	// exponent, or is a negative zero.
	texts   cells.Inference
	exotic  bool
	scratch []byte
}

func newSurvey() *survey { return &survey{byName: map[string]*keySurvey{}} }

// Decode implements files.Decoder.
func (d *survey) Decode(_ *batch.Batch, data []byte, final bool, first int64) (int, int64, error) {
	n, lines := 0, int64(0)
	for n < len(data) {
		end := bytes.IndexByte(data[n:], '\n')
		if end < 0 {
			if final {
				d.look(data[n:], first+lines)
				n = len(data)
				lines++
			}
			break
		}
		d.look(data[n:n+end], first+lines)
		n += end + 1
		lines++
	}
	if len(d.keys) > maxColumns {
		return n, lines, fmt.Errorf("the objects have more than %d different keys: name those to read by the option columns", maxColumns)
	}
	return n, lines, nil
}

// look takes in one line, if it is an object. A line of spaces alone is none.
func (d *survey) look(line []byte, number int64) {
	d.line = d.line[:0]
	d.lineNo++
	known := len(d.keys)
	if !d.object(line) {
		for _, k := range d.keys[known:] {
			delete(d.byName, k.name)
		}
		d.keys = d.keys[:known]
		if d.broken.reason == "" && d.scan.fault != "" {
			d.broken = brokenLine{line: number, reason: fmt.Sprintf("character %d: %s", d.scan.pos+1, d.scan.fault)}
		}
		return
	}
	d.objects++
	for i := range d.line {
		d.line[i].key.add(line, &d.line[i].value)
	}
}

func (d *survey) object(line []byte) bool {
	d.scan = scanner{data: line}
	s := &d.scan
	s.space()
	if s.pos == len(line) {
		return false
	}
	if s.peek() != '{' {
		return s.fail(noObject)
	}
	s.pos++
	s.space()
	if s.peek() != '}' {
		for {
			if !d.member() {
				return false
			}
			s.space()
			if s.peek() != ',' {
				break
			}
			s.pos++
			s.space()
		}
	}
	if s.peek() != '}' {
		return s.fail(noEnd)
	}
	s.pos++
	s.space()
	return s.pos == len(line) || s.fail(tooMuch)
}

func (d *survey) member() bool {
	s := &d.scan
	if s.peek() != '"' {
		return s.fail(noName)
	}
	s.pos++
	start := s.pos
	var escaped bool
	if !s.string(&escaped) {
		return false
	}
	d.name = append(d.name[:0], s.data[start:s.pos-1]...)
	if escaped {
		d.name = d.name[:unescape(d.name)]
	}
	key := d.next()
	if key == nil {
		s.pos = start - 1
		return s.fail(fmt.Sprintf("the key %q is there twice", d.name))
	}
	d.line = append(d.line, member{key: key})
	return s.colon() && s.value(&d.line[len(d.line)-1].value, 0)
}

// next finds the key whose name was read, nil when the line has it twice.
func (d *survey) next() *keySurvey {
	var key *keySurvey
	// Objects mostly have the same keys in the same order.
	if n := len(d.line); n < len(d.keys) && d.keys[n].name == string(d.name) {
		key = d.keys[n]
	} else if key = d.byName[string(d.name)]; key == nil {
		key = &keySurvey{name: string(d.name)}
		d.byName[key.name] = key
		d.keys = append(d.keys, key)
	}
	if key.lineNo == d.lineNo {
		return nil
	}
	key.lineNo = d.lineNo
	return key
}

// add takes in a value.
func (k *keySurvey) add(line []byte, v *value) {
	k.kinds |= v.kind
	text := line[v.start:v.end]
	switch v.kind {
	case isNull, isNested:
		return
	case isString:
		if v.escaped {
			k.scratch = append(k.scratch[:0], text...)
			text = k.scratch[:unescape(k.scratch)]
		}
	case isNumber:
		k.exotic = k.exotic || bytes.ContainsAny(text, "eE") || bytes.HasPrefix(text, []byte("-0"))
	}
	k.texts.Add(text)
}

// merge takes in what another has seen of later lines.
func (d *survey) merge(o *survey) {
	d.objects += o.objects
	if d.broken.reason == "" {
		d.broken = o.broken
	}
	for _, k := range o.keys {
		own, ok := d.byName[k.name]
		if !ok {
			d.byName[k.name] = k
			d.keys = append(d.keys, k)
			continue
		}
		own.kinds |= k.kinds
		own.exotic = own.exotic || k.exotic
		own.texts.Merge(&k.texts)
	}
}

// checkKeys refuses keys that no text can be.
func (d *survey) checkKeys(file string) error {
	for _, k := range d.keys {
		if !utf8.ValidString(k.name) || strings.IndexByte(k.name, 0) >= 0 {
			return connector.Errorf(connector.Usage, "%s: the key %q holds bytes that are no text: is the file in another encoding?", file, k.name)
		}
	}
	return nil
}

// typ returns the type that keeps every value as it is in JSON: a string
// stays one, and so does a number.
func (k *keySurvey) typ() batch.Type {
	text := k.texts.Type()
	switch k.kinds &^ isNull {
	case 0:
		return batch.Of(batch.Text)
	case isBool:
		return batch.Of(batch.Bool)
	case isNumber:
		if text.Kind == batch.Text && !k.exotic {
			return batch.Of(batch.Decimal)
		}
		return text
	case isString:
		switch text.Kind {
		case batch.Date, batch.Timestamp, batch.Instant, batch.UUID:
			return text
		}
		return batch.Of(batch.Text)
	}
	return batch.Of(batch.JSON)
}
