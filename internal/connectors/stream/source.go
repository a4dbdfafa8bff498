package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// maxStep is the most splits of one step of the enumeration.
const maxStep = 64

// Source makes records. It holds nothing open.
type Source struct {
	options    SourceOptions
	schema     *batch.Schema
	generators []generator
	// made is a hash of all that decides what the records are.
	made string
}

// NewSource returns a source of the options.
func NewSource(options *SourceOptions, env connector.SourceEnv) (*Source, error) {
	fields, err := options.fields()
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	s := &Source{options: *options, schema: &batch.Schema{}}
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %v %q", options.Seed, options.Nulls, options.Key)
	for _, f := range fields {
		f.NotNull = options.Nulls == 0 || f.Name == options.Key
		fmt.Fprintf(h, " %q %s", f.Name, f.Type)
		if env.Columns != nil && !slices.Contains(env.Columns, f.Name) {
			continue
		}
		key := f.Name == options.Key
		s.schema.Fields = append(s.schema.Fields, f)
		s.generators = append(s.generators, newGenerator(f, options.Seed, options.Nulls, key))
		if key {
			s.schema.Key = []string{f.Name}
		}
	}
	if len(s.schema.Fields) == 0 {
		return nil, connector.Errorf(connector.Usage, "the stream has none of the columns %q", env.Columns)
	}
	s.made = strconv.FormatUint(h.Sum64(), 16)
	return s, nil
}

// spec is a split: rows From to To-1, To 0 when there is no end.
type spec struct {
	From int64  `json:"from"`
	To   int64  `json:"to,omitempty"`
	Made string `json:"made"`
}

// Schema returns the columns of the options.
func (s *Source) Schema(context.Context) (*batch.Schema, error) { return s.schema, nil }

// Enumerate cuts the rows into splits, some at a time. The cursor is the
// number of the next row.
func (s *Source) Enumerate(ctx context.Context, cursor connector.Cursor, first connector.SplitID, want connector.Want) (connector.Enumeration, error) {
	if err := ctx.Err(); err != nil {
		return connector.Enumeration{}, err
	}
	row, err := parseRow(string(cursor))
	if err != nil {
		return connector.Enumeration{}, fmt.Errorf("cursor of a stream: %w", err)
	}
	end := s.options.Rows
	if end == 0 {
		end = math.MaxInt64
	}
	size := s.options.SplitRows
	if want.Ordered {
		size = end
	}
	var e connector.Enumeration
	for row < end && len(e.Splits) < maxStep {
		to := end
		if end-row > size {
			to = row + size
		}
		e.Splits = append(e.Splits, s.split(first+connector.SplitID(len(e.Splits)), row, to))
		row = to
	}
	e.Next = connector.Cursor(strconv.FormatInt(row, 10))
	e.Done = row >= end
	return e, nil
}

func (s *Source) split(id connector.SplitID, from, to int64) connector.Split {
	sp := spec{From: from, To: to, Made: s.made}
	split := connector.Split{ID: id, Rows: to - from, Label: fmt.Sprintf("rows %d to %d", from+1, to)}
	if to == math.MaxInt64 {
		sp.To, split.Rows, split.Label = 0, 0, fmt.Sprintf("rows from %d", from+1)
	}
	text, err := json.Marshal(sp)
	if err != nil {
		panic(err) // two numbers and a text can always be marshalled
	}
	split.Spec = string(text)
	return split
}

// Open starts to make a split's records from a position.
func (s *Source) Open(ctx context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var sp spec
	if err := json.Unmarshal([]byte(split.Spec), &sp); err != nil {
		return nil, fmt.Errorf("split %d of a stream: %w", split.ID, err)
	}
	if sp.Made != s.made {
		return nil, connector.Errorf(connector.Permanent, "split %d was made from other columns, nulls or seed than the stream now has", split.ID)
	}
	if sp.To == 0 {
		sp.To = math.MaxInt64
	}
	row := sp.From
	if pos != "" {
		var err error
		if row, err = parseRow(string(pos)); err != nil {
			return nil, fmt.Errorf("position in split %d of a stream: %w", split.ID, err)
		}
	}
	if row < sp.From || row > sp.To {
		return nil, connector.Errorf(connector.Fatal, "position %d is not in split %d, which has rows %d to %d", row, split.ID, sp.From, sp.To)
	}
	return &reader{source: s, row: row, end: sp.To}, nil
}

// Close does nothing: the source holds nothing.
func (s *Source) Close() error { return nil }

// parseRow reads a row number; the empty text is 0.
func parseRow(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, connector.Errorf(connector.Fatal, "%q is not a row number", text)
	}
	return n, nil
}
