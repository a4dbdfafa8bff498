package database

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector"
)

// Keyed is what is read, and how its splits are told apart.
type Keyed struct {
	// What names it for people: "table a.b", "the query".
	What string
	// Key is what splits are ranges of; empty where there is none. Unique says
	// that it is the key of each row, without NULL: reading can go on after one.
	Key    []string
	Unique bool
	// Nullable says that the first column of Key may be NULL.
	Nullable bool
}

// Whole is one split of everything, in the order of the key where there is one.
func (k *Keyed) Whole() connector.Enumeration {
	r := Range{}
	if len(k.Key) > 0 {
		r.Key, r.Ordered = k.Key, true
	}
	return connector.Enumeration{Splits: []connector.Split{{Spec: EncodeSpec(&r), Label: k.What}}, Done: true}
}

// Between is the split after low up to and with high; a nil bound is open.
func (k *Keyed) Between(low, high []string, z Size) connector.Split {
	r := Range{Key: k.Key, Low: low, High: high, NotNull: k.Nullable, Ordered: k.Unique}
	label := k.What
	if low != nil {
		label += " after " + strings.Join(low, ", ")
	}
	return connector.Split{Spec: EncodeSpec(&r), Rows: min(z.SplitRows, z.Rows), Bytes: min(z.SplitBytes, z.Bytes), Label: label}
}

// Last ends an enumeration with the open range, and NULL keys.
func (k *Keyed) Last(e connector.Enumeration, low []string, z Size) connector.Enumeration {
	e.Splits = append(e.Splits, k.Between(low, nil, z))
	if k.Nullable {
		r := Range{Key: k.Key, Null: true}
		e.Splits = append(e.Splits, connector.Split{Spec: EncodeSpec(&r), Label: k.What + " where " + k.Key[0] + " is NULL"})
	}
	e.Done = true
	return e
}

// Cut splits everything at bounds that were found in one pass.
func (k *Keyed) Cut(bounds [][]string, z Size) connector.Enumeration {
	var e connector.Enumeration
	var low []string
	for _, high := range bounds {
		e.Splits = append(e.Splits, k.Between(low, high, z))
		low = high
	}
	return k.Last(e, low, z)
}

// Step finds ranges from a cursor on: bound returns the key of the row that
// ends the range after low, nil when there are not so many rows.
func (k *Keyed) Step(at Cursor, want connector.Want, z Size, bound func(low []string) ([]string, error)) (connector.Enumeration, error) {
	var e connector.Enumeration
	low := at.Low
	for range Steps(at, want) {
		high, err := bound(low)
		if err != nil {
			return e, err
		}
		if high == nil {
			return k.Last(e, low, z), nil
		}
		e.Splits = append(e.Splits, k.Between(low, high, z))
		low = high
	}
	e.Next = EncodeCursor(&Cursor{Key: k.Key, Low: low})
	return e, nil
}

// Cursor is where an enumeration of ranges goes on: Low is the last bound
// found, of Key.
type Cursor struct {
	Key []string `json:"key,omitempty"`
	Low []string `json:"low,omitempty"`
}

// EncodeCursor is a cursor's value: a Cursor, or a struct with one embedded.
func EncodeCursor(c any) connector.Cursor {
	text, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprintf("database: encode a cursor: %v", err)) // texts and numbers can always be marshalled
	}
	return connector.Cursor(text)
}

// DecodeCursor reads what EncodeCursor made; the zero value for the start.
func DecodeCursor[T any](text connector.Cursor) (c T, err error) {
	if text == "" {
		return c, nil
	}
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return c, connector.Errorf(connector.Permanent, "read the cursor: %w", err)
	}
	return c, nil
}

// Check refuses a cursor of another key.
func (k *Keyed) Check(c Cursor) error {
	if c.Low == nil || slices.Equal(c.Key, k.Key) {
		return nil
	}
	return connector.Errorf(connector.Permanent, "%s was being split by %s, and its key is now %s; begin anew with --restart",
		k.What, strings.Join(c.Key, ", "), strings.Join(k.Key, ", "))
}

// Number gives an enumeration's splits their ids.
func Number(e connector.Enumeration, first connector.SplitID) connector.Enumeration {
	for i := range e.Splits {
		e.Splits[i].ID = first + connector.SplitID(i)
	}
	return e
}

// Describe says for people how it is split; keyless is what is done without a key.
func (k *Keyed) Describe(indexed bool, keyless string) []string {
	var lines []string
	if len(k.Key) > 0 && !indexed {
		lines = append(lines, "no unique index begins with "+strings.Join(k.Key, ", ")+": unless another one does, each split reads everything to find its rows")
	}
	switch {
	case k.Unique:
		return append(lines, "splits: by the unique key "+strings.Join(k.Key, ", ")+"; reading goes on after the last key")
	case len(k.Key) > 0:
		return append(lines, "splits: by "+k.Key[0]+", which need not be unique; each is committed once, at its end")
	}
	return append(lines, "splits: "+keyless)
}

// Resume says from which key on a range is read after a position, nil for its
// start, and whether reading has positions.
func (k *Keyed) Resume(r *Range, pos connector.Position) (after []string, seekable bool, err error) {
	if !k.Unique || !r.Ordered || !slices.Equal(r.Key, k.Key) {
		if pos != "" {
			err = connector.Errorf(connector.Permanent, "a position in a split that has none")
		}
		return nil, false, err
	}
	after, err = DecodePosition(pos, len(r.Key))
	return after, true, err
}

// KeyColumns finds a range's key among the columns that the key has now.
func KeyColumns[C any](r *Range, columns []C, name func(*C) string) ([]C, error) {
	var keys []C
	for _, wanted := range r.Key {
		i := slices.IndexFunc(columns, func(c C) bool { return name(&c) == wanted })
		if i < 0 {
			return nil, connector.Errorf(connector.Permanent, "a split by %s, which is not the key any more", wanted)
		}
		keys = append(keys, columns[i])
	}
	return keys, nil
}
