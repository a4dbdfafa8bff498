package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
)

// want is what a line means by the standard library: its cells by key, nil
// when it is dirty.
func want(line []byte) map[string]string {
	if !json.Valid(line) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(line))
	if token, err := dec.Token(); err != nil || token != json.Delim('{') {
		return nil
	}
	cells := map[string]string{}
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		_, twice := cells[name]
		if err != nil || !ok || twice && (name == "a" || name == "b") { // others are left out, however often
			return nil
		}
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return nil
		}
		switch raw[0] {
		case 'n':
			cells[name] = "NULL"
		case '"':
			var text string
			if json.Unmarshal(raw, &text) != nil {
				return nil
			}
			cells[name] = text
		default:
			cells[name] = string(raw)
		}
	}
	return cells
}

// FuzzDecode holds each line to the standard library, and lines to the order
// in which blocks of any size give them.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("{\"a\":1,\"b\":\"\\u00e9\"}\n\n {\"b\":[1]}\r\n{\"a\":1,\"a\":2}\nx"), 7)
	f.Add([]byte(`{"\u0061":null,"c":{"a":"b"}}`), 1)
	f.Add([]byte(`{"a":"x"}}`), 3)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		if !utf8.Valid(text) || len(text) > 1000 || bytes.Contains(text, []byte(`\ud`)) || bytes.Contains(text, []byte(`\uD`)) ||
			bytes.Contains(text, bytes.Repeat([]byte{'['}, 100)) {
			return // refused elsewhere, or stricter here
		}
		var rows []string
		dirty := 0
		for line := range bytes.Lines(text) {
			if len(bytes.Trim(line, " \t\r\n")) == 0 {
				continue
			}
			cells := want(line)
			if cells == nil {
				dirty++
				continue
			}
			row := make([]string, 0, 2)
			for _, name := range []string{"a", "b"} {
				cell, ok := cells[name]
				if !ok {
					cell = "NULL"
				}
				row = append(row, cell)
			}
			rows = append(rows, strings.Join(row, "|"))
		}
		got, rejects := decodeBlocks(t, text, 1+max(size, 0)%100)
		if rejects != dirty || strings.Join(got, "\n") != strings.Join(rows, "\n") {
			t.Fatalf("%q: %d dirty and %q, want %d and %q", text, rejects, got, dirty, rows)
		}
	})
}

// decodeBlocks decodes a text that comes in blocks of a size.
func decodeBlocks(t *testing.T, text []byte, size int) (rows []string, rejects int) {
	t.Helper()
	d := newDecoder([]column{{name: "a"}, {name: "b"}}, false)
	b := &batch.Batch{}
	schema := &batch.Schema{Fields: []batch.Field{{Name: "a"}, {Name: "b"}}}
	line := int64(1)
	for from, end := 0, 0; from < len(text); {
		end = min(end+size, len(text))
		b.Reset(schema)
		b.Buf = append(b.Buf, text[from:end]...)
		n, lines, err := d.Decode(b, b.Buf, end == len(text), line)
		if err != nil {
			t.Fatal(err)
		}
		if int(lines) < bytes.Count(text[from:from+n], []byte{'\n'}) {
			t.Fatalf("%d lines in %q", lines, text[from:from+n])
		}
		b.Seal()
		rows = append(rows, rowsOf(b)...)
		rejects += len(b.Rejects)
		from += n
		line += lines
	}
	return rows, rejects
}
