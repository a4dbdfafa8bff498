package parquet

import (
	"fmt"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
)

// node is a column of a file, or a part of one that has parts.
type node struct {
	format.Element
	// def and rep are the levels at which the node is there: how many nodes
	// above it, and it, may be missing, and may be repeated.
	def, rep int
	parts    []*node
	// leaf numbers the nodes that have values, -1 for others.
	leaf int
}

// maxNesting bounds how deep nodes nest.
const maxNesting = 100

// tree makes a file's columns of its schema's list.
func tree(elements []format.Element) ([]*node, int, error) {
	if len(elements) == 0 || elements[0].Children < 1 {
		return nil, 0, fmt.Errorf("its schema has no columns")
	}
	b := treeBuilder{rest: elements[1:]}
	root := &node{Element: elements[0]}
	if err := b.parts(root, 0); err != nil {
		return nil, 0, err
	}
	if len(b.rest) > 0 {
		return nil, 0, fmt.Errorf("its schema has %d nodes that belong nowhere", len(b.rest))
	}
	return root.parts, b.leaves, nil
}

type treeBuilder struct {
	rest   []format.Element
	leaves int
}

func (b *treeBuilder) parts(n *node, depth int) error {
	if depth > maxNesting {
		return fmt.Errorf("its schema nests more than %d deep", maxNesting)
	}
	if int(n.Children) > len(b.rest) {
		return fmt.Errorf("its schema ends early")
	}
	for range n.Children {
		if len(b.rest) == 0 {
			return fmt.Errorf("its schema ends early")
		}
		p := &node{Element: b.rest[0], def: n.def, rep: n.rep, leaf: -1}
		b.rest = b.rest[1:]
		switch p.Repetition {
		case format.Optional:
			p.def++
		case format.Repeated:
			p.def++
			p.rep++
		}
		switch {
		case p.Type == format.NoType && p.Children < 1:
			return fmt.Errorf("its column %s has neither values nor parts", p.Name)
		case p.Type == format.NoType:
			if err := b.parts(p, depth+1); err != nil {
				return err
			}
		case p.Children != 0:
			return fmt.Errorf("its column %s has both values and parts", p.Name)
		default:
			p.leaf = b.leaves
			b.leaves++
		}
		n.parts = append(n.parts, p)
	}
	return nil
}

// flat reports whether a record has at most one value here.
func (n *node) flat() bool { return n.leaf >= 0 && n.rep == 0 }

// field returns the column as the rest of Leat sees it: nested ones are JSON.
func (n *node) field() (batch.Field, error) {
	f := batch.Field{Name: n.Name, NotNull: n.Repetition == format.Required}
	if !n.flat() {
		f.Type = batch.Of(batch.JSON)
		f.NotNull = n.Repetition != format.Optional
		return f, n.checkParts()
	}
	t, err := typeOf(&n.Element)
	f.Type = t
	if err != nil {
		err = connector.Errorf(connector.Usage, "its column %s %w", n.Name, err)
	}
	return f, err
}

// checkParts finds values within a nested column that cannot be read.
func (n *node) checkParts() error {
	if n.leaf >= 0 {
		if _, err := typeOf(&n.Element); err != nil {
			return connector.Errorf(connector.Usage, "its column %s %w", n.Name, err)
		}
	}
	for _, p := range n.parts {
		if err := p.checkParts(); err != nil {
			return err
		}
	}
	return nil
}

// typeOf returns what values of a leaf are.
func typeOf(e *format.Element) (batch.Type, error) {
	l := &e.Logical
	switch e.Type {
	case format.Boolean:
		return batch.Of(batch.Bool), nil
	case format.Int32, format.Int64:
		return integerType(e)
	case format.Int96:
		return batch.Type{Kind: batch.Timestamp, Fraction: 10}, nil
	case format.Float:
		return batch.Of(batch.Float32), nil
	case format.Double:
		return batch.Of(batch.Float64), nil
	case format.ByteArray:
		switch l.Kind {
		case format.String, format.Enum:
			return batch.Of(batch.Text), nil
		case format.JSON:
			return batch.Of(batch.JSON), nil
		case format.Decimal:
			return decimalType(l)
		}
		return batch.Of(batch.Bytes), nil
	case format.Fixed:
		return fixedType(e)
	}
	return batch.Type{}, fmt.Errorf("has values of an unknown type %d", e.Type)
}

func integerType(e *format.Element) (batch.Type, error) {
	l, wide := &e.Logical, e.Type == format.Int64
	switch l.Kind {
	case format.Integer:
		kinds := map[int8]batch.Kind{8: batch.Int8, 16: batch.Int16, 32: batch.Int32, 64: batch.Int64}
		k, ok := kinds[l.Bits]
		if !ok || (l.Bits == 64) != wide {
			return batch.Type{}, fmt.Errorf("has integers of %d bits in another size", l.Bits)
		}
		if !l.Signed {
			k += batch.Uint8 - batch.Int8
		}
		return batch.Of(k), nil
	case format.Decimal:
		return decimalType(l)
	case format.Date:
		if !wide {
			return batch.Of(batch.Date), nil
		}
	case format.Time:
		if l.Unit >= format.Millis && l.Unit <= format.Nanos && wide == (l.Unit > format.Millis) {
			return batch.Type{Kind: batch.Time, Fraction: fractionOf(l.Unit)}, nil
		}
	case format.Timestamp:
		if l.Unit >= format.Millis && l.Unit <= format.Nanos && wide {
			k := batch.Timestamp
			if l.UTC {
				k = batch.Instant
			}
			return batch.Type{Kind: k, Fraction: fractionOf(l.Unit)}, nil
		}
	default:
		if wide {
			return batch.Of(batch.Int64), nil
		}
		return batch.Of(batch.Int32), nil
	}
	return batch.Type{}, fmt.Errorf("has times in a unit or size that Parquet does not know")
}

func decimalType(l *format.Logical) (batch.Type, error) {
	if l.Precision < 1 || l.Precision > 1000 || l.Scale < 0 || l.Scale > l.Precision {
		return batch.Type{}, fmt.Errorf("is a decimal(%d,%d), which Parquet does not know", l.Precision, l.Scale)
	}
	return batch.Type{Kind: batch.Decimal, Precision: int(l.Precision), Scale: int(l.Scale)}, nil
}

func fixedType(e *format.Element) (batch.Type, error) {
	sizes := map[format.LogicalKind]int32{format.UUID: 16, format.Float16: 2, format.Interval: 12}
	if size, ok := sizes[e.Logical.Kind]; ok && size != e.Length {
		return batch.Type{}, fmt.Errorf("has values of %d bytes, where it should be %d", e.Length, size)
	}
	if e.Length < 1 || e.Length > 1<<20 {
		return batch.Type{}, fmt.Errorf("has values of %d bytes", e.Length)
	}
	switch e.Logical.Kind {
	case format.UUID:
		return batch.Of(batch.UUID), nil
	case format.Float16:
		return batch.Of(batch.Float32), nil
	case format.Interval:
		return batch.Of(batch.Interval), nil
	case format.Decimal:
		return decimalType(&e.Logical)
	}
	return batch.Type{Kind: batch.Bytes, Length: int(e.Length), Fixed: true}, nil
}
