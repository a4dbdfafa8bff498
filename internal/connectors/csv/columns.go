package csv

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// columns finds the columns at the start of a file's text. It is a
// files.SchemaFunc.
func (f *format) columns(head []byte, whole bool) (*batch.Schema, bool, error) {
	d, n, ok, err := f.start(head, whole)
	if !ok || err != nil {
		return nil, ok, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if n == len(head) && whole && f.schema != nil {
		return f.schema, true, nil // an empty file says nothing of its own
	}
	if n == len(head) && whole && len(f.names) == 0 {
		return &batch.Schema{}, true, nil // the target's columns, or the job's
	}
	names, ok, err := f.namesAt(d, head[n:], whole)
	if !ok || err != nil {
		return nil, ok, err
	}
	schema, err := f.schemaOf(names)
	if err == nil && f.schema == nil {
		f.schema = schema
	}
	return schema, err == nil, err
}

// namesAt finds the columns' names, from the first record or from the options.
func (f *format) namesAt(d dialect, text []byte, whole bool) ([]string, bool, error) {
	if !f.header && len(f.names) > 0 {
		return f.names, true, nil
	}
	if len(text) == 0 && whole {
		return f.names, true, nil
	}
	found, _, ok, err := firstRecord(d, text, whole)
	switch {
	case !ok || err != nil:
		return nil, ok, err
	case len(f.names) > 0 && len(f.names) != len(found):
		return nil, false, connector.Errorf(connector.Usage, "the option names has %d names, the header %d: %s", len(f.names), len(found), quoteNames(found))
	case len(f.names) > 0:
		return f.names, true, nil
	case f.header:
		return found, true, checkNames(found)
	}
	names := make([]string, len(found))
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i+1)
	}
	return names, true, nil
}

// checkNames refuses a header that does not name each column by a name of its own.
func checkNames(names []string) error {
	var wrong []string
	for i, name := range names {
		if !utf8.ValidString(name) || strings.IndexByte(name, 0) >= 0 {
			return connector.Errorf(connector.Usage, "the name of column %d in the header holds bytes that are no text: is the file in another encoding?", i+1)
		}
		if name == "" {
			wrong = append(wrong, fmt.Sprintf("column %d has no name", i+1))
		} else if j := slices.Index(names[:i], name); j >= 0 {
			wrong = append(wrong, fmt.Sprintf("columns %d and %d are both named %q", j+1, i+1, name))
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return connector.Errorf(connector.Usage, "the header does not tell the columns apart: %s; name all by the option names", strings.Join(wrong, "; "))
}

// schemaOf makes the schema of the names: Untyped but for the declared types.
func (f *format) schemaOf(names []string) (*batch.Schema, error) {
	s := &batch.Schema{Fields: make([]batch.Field, len(names))}
	for i, name := range names {
		s.Fields[i] = batch.Field{Name: name, Type: f.types[name]}
	}
	for name := range f.types {
		if s.Index(name) < 0 {
			return nil, connector.Errorf(connector.Usage, "types: there is no column %q; there are %s", name, quoteNames(names))
		}
	}
	return s, nil
}

func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return strings.Join(quoted, ", ")
}

// firstRecord reads the fields of the record at the start of a text, and
// returns its size. NULL is not looked for.
func firstRecord(d dialect, text []byte, whole bool) (fields []string, size int, ok bool, err error) {
	if len(text) == 0 {
		return nil, 0, whole, nil
	}
	d.null = "\n\r" // no field without quotes holds both
	dec := &decoder{dialect: d, width: 1}
	for {
		dec.b, dec.line, dec.counted, dec.limit = &batch.Batch{}, 1, 0, 1
		dec.used = 0
		data := bytes.Clone(text)
		if size, ok = dec.record(data, 0, whole); !ok {
			return nil, 0, false, nil
		}
		if dec.fault != "" {
			return nil, 0, false, connector.Errorf(connector.Permanent, "the first record: %s", dec.fault)
		}
		if dec.col == dec.width {
			for _, s := range dec.spans[:dec.used] {
				if s.Len < 0 {
					fields = append(fields, d.null)
					continue
				}
				fields = append(fields, string(data[s.Off:s.Off+uint32(s.Len)]))
			}
			return fields, size, true, nil
		}
		dec.width = dec.col
	}
}
