package task_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/task"
)

// people is a batch of three records: id, name, born; the last two lack something.
func people() (*batch.Schema, *batch.Batch) {
	s := &batch.Schema{
		Fields: []batch.Field{
			{Name: "id", Type: batch.Of(batch.Int64), NotNull: true},
			{Name: "name", Type: batch.Of(batch.Text)},
			{Name: "born", Type: batch.Of(batch.Timestamp)},
		},
		Key: []string{"id"},
	}
	b := (&batch.Pool{}).Get(s)
	for _, row := range [][]string{{"1", "Ada", "1815-12-10 00:00:00"}, {"2", "", "NULL"}, {"3", "NULL", "1906-12-09 07:30:00"}} {
		for _, cell := range row {
			if cell == "NULL" {
				b.AppendNull()
			} else {
				b.Append([]byte(cell))
			}
		}
	}
	b.Seal()
	b.First = 1
	return s, b
}

func text(b *batch.Batch) []string {
	var rows []string
	for i := range b.Rows {
		var cells []string
		for c := range b.Columns {
			if cell := b.Columns[c].Cell(i); cell == nil {
				cells = append(cells, "NULL")
			} else {
				cells = append(cells, string(cell))
			}
		}
		rows = append(rows, strings.Join(cells, "|"))
	}
	return rows
}

func TestMap(t *testing.T) {
	date, whole := batch.Of(batch.Date), batch.Of(batch.Int32)
	tests := []struct {
		name     string
		columns  []task.Column
		where    string
		target   []batch.Type // by default the mapped types
		want     []string
		key      string
		filtered int64
		rejects  []string
	}{
		{
			name:    "as it is",
			columns: []task.Column{{Name: "id", Source: 0}, {Name: "name", Source: 1}, {Name: "born", Source: 2}},
			want:    []string{"1|Ada|1815-12-10 00:00:00", "2||NULL", "3|NULL|1906-12-09 07:30:00"}, key: "id",
		},
		{
			name:    "chosen, renamed, twice, constants",
			columns: []task.Column{{Name: "who", Source: 1}, {Name: "c", Source: -1, Constant: []byte("x")}, {Name: "nothing", Source: -1}, {Name: "k", Source: 0}, {Name: "k2", Source: 0}},
			want:    []string{"Ada|x|NULL|1|1", "|x|NULL|2|2", "NULL|x|NULL|3|3"}, key: "k",
		},
		{
			name:     "filtered, with NULL not passing",
			columns:  []task.Column{{Name: "id", Source: 0}, {Name: "c", Source: -1, Constant: []byte("x")}},
			where:    `born > "1900-01-01"`,
			want:     []string{"3|x"},
			key:      "id",
			filtered: 2,
		},
		{
			name:    "cast by the job may cut",
			columns: []task.Column{{Name: "day", Source: 2, Cast: &date}, {Name: "n", Source: 0, Cast: &whole}},
			want:    []string{"1815-12-10|1", "NULL|2", "1906-12-09|3"},
		},
		{
			name:    "what the target cannot hold is dirty, never cut",
			columns: []task.Column{{Name: "id", Source: 0}, {Name: "day", Source: 2}},
			target:  []batch.Type{batch.Of(batch.Int64), date},
			want:    []string{"1|1815-12-10", "2|NULL"}, key: "id",
			rejects: []string{"day"},
		},
		{
			name:     "all at once",
			columns:  []task.Column{{Name: "day", Source: 2}, {Name: "id", Source: 0}, {Name: "c", Source: -1, Constant: []byte("7"), Cast: &whole}},
			where:    "id != 2",
			target:   []batch.Type{date, batch.Of(batch.Int64), batch.Of(batch.Int64)},
			want:     []string{"1815-12-10|1|7"},
			key:      "id",
			filtered: 1,
			rejects:  []string{"day"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, b := people()
			m, err := task.NewMapper(s, tt.columns, tt.where)
			if err != nil {
				t.Fatal(err)
			}
			if key := strings.Join(m.Out().Key, ","); key != tt.key {
				t.Errorf("key %q, want %q", key, tt.key)
			}
			target := &batch.Schema{Fields: slices.Clone(m.Out().Fields)}
			for i, typ := range tt.target {
				target.Fields[i].Type = typ
			}
			if err := m.Bind(target); err != nil {
				t.Fatal(err)
			}
			filtered := m.Map(b)
			if got := text(b); !slices.Equal(got, tt.want) {
				t.Errorf("rows %q, want %q", got, tt.want)
			}
			if filtered != tt.filtered {
				t.Errorf("%d filtered, want %d", filtered, tt.filtered)
			}
			var rejects []string
			for _, r := range b.Rejects {
				rejects = append(rejects, r.Column)
				if r.Reason == "" || len(r.Values) != 3 || r.Where == "" {
					t.Errorf("reject %+v", r)
				}
			}
			if !slices.Equal(rejects, tt.rejects) {
				t.Errorf("rejects %q, want %q", rejects, tt.rejects)
			}
			if int64(b.Rows)+filtered+int64(len(b.Rejects)) != b.Read {
				t.Errorf("%d rows, %d filtered, %d rejects of %d read", b.Rows, filtered, len(b.Rejects), b.Read)
			}
		})
	}
}

func TestMapperRefuses(t *testing.T) {
	s, _ := people()
	if _, err := task.NewMapper(s, nil, "idd == 1"); err == nil || !strings.Contains(err.Error(), "id") {
		t.Errorf("unknown column in where: %v", err)
	}
	date := batch.Of(batch.Date)
	if _, err := task.NewMapper(s, []task.Column{{Name: "d", Source: -1, Constant: []byte("soon"), Cast: &date}}, ""); err == nil {
		t.Error("a constant that is no date is taken for one")
	}
}

// ValidUTF8 stays true through a mapper only while all that it makes is valid.
func TestMapKeepsValidUTF8True(t *testing.T) {
	date, bytes, text := batch.Of(batch.Date), batch.Of(batch.Bytes), batch.Of(batch.Text)
	for name, c := range map[string]struct {
		columns []task.Column
		target  batch.Type
		want    bool
	}{
		"as it is":       {[]task.Column{{Name: "n", Source: 1}}, text, true},
		"cast":           {[]task.Column{{Name: "d", Source: 2, Cast: &date}}, date, true},
		"to bytes":       {[]task.Column{{Name: "n", Source: 1}}, bytes, false},
		"cast to bytes":  {[]task.Column{{Name: "n", Source: 1, Cast: &bytes}}, bytes, false},
		"constant":       {[]task.Column{{Name: "n", Source: -1, Constant: []byte("é"), Cast: &text}}, text, true},
		"constant bytes": {[]task.Column{{Name: "n", Source: -1, Constant: []byte(`\xff`), Cast: &bytes}}, bytes, false},
		"NULL":           {[]task.Column{{Name: "n", Source: -1, Cast: &bytes}}, bytes, true},
	} {
		for _, judged := range []bool{true, false} {
			s, b := people()
			b.ValidUTF8 = judged
			m, err := task.NewMapper(s, c.columns, "")
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Bind(&batch.Schema{Fields: []batch.Field{{Name: "x", Type: c.target}}}); err != nil {
				t.Fatal(err)
			}
			m.Map(b)
			if want := judged && c.want; b.ValidUTF8 != want {
				t.Errorf("%s, judged %v: valid %v, want %v", name, judged, b.ValidUTF8, want)
			}
			b.Reset(s)
			if b.ValidUTF8 {
				t.Errorf("%s: still valid after Reset", name)
			}
		}
	}
}
