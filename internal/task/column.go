package task

import (
	"fmt"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
	"github.com/leatdata/leat/connector"
)

// Column is one column of the job's result: a column of the source, renamed
// and cast when wanted, or a constant.
type Column struct {
	// Name is the column's name on its way to the sink.
	Name string
	// Source is the index of the source's field, -1 for a constant.
	Source int
	// Constant is the text of a constant; nil is NULL.
	Constant []byte
	// Cast is the type to make of it, nil to keep the source's.
	Cast *batch.Type
}

// output is a Column with its conversions: to the cast's type, and from there
// to the target's. A nil one leaves the text as it is.
type output struct {
	field    batch.Field
	source   int
	constant []byte
	cast     value.Converter
	convert  value.Converter
}

// converted reports whether the cells are new texts rather than the source's.
func (o *output) converted() bool { return o.source >= 0 && (o.cast != nil || o.convert != nil) }

// makesBytes reports whether the output's new cells, for a target of a type,
// may be other than UTF-8. Of valid texts conversions make valid ones, but
// for Bytes.
func (o *output) makesBytes(target batch.Type) bool {
	if o.source < 0 {
		return !utf8.Valid(o.constant)
	}
	return o.converted() && (o.field.Type.Kind == batch.Bytes || target.Kind == batch.Bytes)
}

func resolve(in *batch.Schema, columns []Column) ([]output, error) {
	outputs := make([]output, len(columns))
	for i, c := range columns {
		o := output{field: batch.Field{Name: c.Name, NotNull: c.Constant != nil}, source: c.Source, constant: c.Constant}
		if c.Source >= 0 {
			o.field.Type, o.field.NotNull = in.Fields[c.Source].Type, in.Fields[c.Source].NotNull
		}
		if c.Cast != nil {
			if err := o.setCast(*c.Cast); err != nil {
				return nil, err
			}
		}
		outputs[i] = o
	}
	return outputs, nil
}

// setCast finds the conversion to the type of a cast. A cast whose text may
// pass as it is still has to be judged, so that the type is true.
func (o *output) setCast(to batch.Type) error {
	cast, err := value.ConvertCast(o.field.Type, to)
	if err == nil && cast == nil {
		cast, err = value.Canonical(to)
	}
	if err != nil {
		return connector.Errorf(connector.Usage, "columns: cast %s: %w", o.field.Name, err)
	}
	o.field.Type = to
	if o.source >= 0 {
		o.cast = cast
		return nil
	}
	return o.convertConstant(cast)
}

func (o *output) convertConstant(c value.Converter) error {
	if c == nil || o.constant == nil {
		return nil
	}
	text, err := c([]byte{}, o.constant)
	if err != nil {
		return connector.Errorf(connector.Usage, "columns: the value of %s: %w", o.field.Name, err)
	}
	o.constant = text
	return nil
}

// bind sets the conversion to the target's type.
func (o *output) bind(target batch.Field) error {
	convert, err := value.Convert(o.field.Type, target.Type)
	if err != nil {
		return connector.Errorf(connector.Usage, "column %s: %w", o.field.Name, err)
	}
	if o.source < 0 {
		return o.convertConstant(convert)
	}
	o.convert = convert
	return nil
}

// keyOf returns the schema's key by the outputs' names, or nil when a key
// column is left out, cast or not told apart.
func keyOf(in *batch.Schema, outputs []output) []string {
	var key []string
	for _, k := range in.Key {
		name := ""
		for _, o := range outputs {
			if o.source >= 0 && in.Fields[o.source].Name == k && o.cast == nil {
				name = o.field.Name
				break
			}
		}
		if name == "" {
			return nil
		}
		key = append(key, name)
	}
	return key
}

// describe says where a row was, for messages: its own place, or about where
// when the batch does not know that.
func describe(b *batch.Batch, row int) string {
	origin := b.Origin
	switch {
	case b.First == 0:
		return origin
	case origin == "":
		origin = "record"
	}
	if n, ok := b.Ordinal(row); ok {
		return fmt.Sprintf("%s %d", origin, n)
	}
	return fmt.Sprintf("%s %d to %d", origin, b.First, b.First+b.Read-1)
}
