package stream

import (
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// FuzzPosition opens a split at any position: it is refused, or a row of the split.
func FuzzPosition(f *testing.F) {
	for _, seed := range []string{"", "0", "9", "10", "11", "-1", "+1", "01", "x", "99999999999999999999"} {
		f.Add(seed, `{"from":0,"to":10}`)
	}
	f.Add("5", `{"from":7,"to":3}`)
	s := newSource(f, SourceOptions{Rows: 10, Columns: []string{"id int64"}})
	f.Fuzz(func(t *testing.T, position, text string) {
		for _, spec := range []string{s.split(0, 0, 10).Spec, text} {
			r, err := s.Open(t.Context(), connector.Split{Spec: spec}, connector.Position(position))
			if err != nil {
				continue
			}
			b := new(batch.Batch)
			b.Reset(s.schema)
			if err := r.Next(t.Context(), b); err == nil && b.Rows > batch.MaxRows {
				t.Errorf("%d rows", b.Rows)
			}
		}
	})
}
