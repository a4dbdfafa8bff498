package cases

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/testenv"
	"github.com/leatdata/leat/job"
)

//nolint:gochecknoglobals // a flag of the tests
var updateTypes = flag.Bool("update", false, "write docs/types.md anew")

const typesDoc = "../../docs/types.md"

// typeColumn is a column of a system's table of all types. Its values are
// written as the system's tables are made: literals, fields, JSON texts.
type typeColumn struct {
	native string
	values []string
}

// typeSystem is a system in the table of types.
type typeSystem struct {
	name string
	// note says how its columns get their types.
	note    string
	columns []typeColumn
	// fill makes a table: of one row per value with n as its number, all other
	// columns NULL, or without rows.
	fill func(s *scene, table string, rows []typeRow)
	// source and sink are the ends of a job; those of text files take the types
	// of the columns that there are.
	source func(table string, types map[string]string) string
	sink   func(table string) string
	// untyped says that the sink keeps the types of some columns for itself, so
	// that a job from elsewhere has to say what the source's were; text that its
	// files have no types at all, which are then the reader's option.
	untyped, text bool
	// told says, by column, what a table of another system has become here.
	told func(s *scene, table string) map[string]string
}

// typeRow is a row of a table of all types: a value in one of its columns.
type typeRow struct {
	n, column int
	value     string
}

func (y *typeSystem) rows() (rows []typeRow) {
	for c, column := range y.columns {
		for _, v := range column.values {
			rows = append(rows, typeRow{len(rows) + 1, c, v})
		}
		rows = append(rows, typeRow{len(rows) + 1, c, ""}) // all NULL
	}
	return rows
}

func (y *typeSystem) column(name string) int {
	i := 0
	if _, err := fmt.Sscanf(name, "c%d", &i); err != nil || i >= len(y.columns) {
		return -1
	}
	return i
}

// types are the types of the chosen columns, of all for nil.
func (y *typeSystem) types(chosen []string) map[string]string {
	types := map[string]string{"n": "int32"}
	for i, c := range y.columns {
		if name := fmt.Sprintf("c%d", i); chosen == nil || slices.Contains(chosen, name) {
			types[name] = c.native
		}
	}
	return types
}

// typeCell is what became of a type in a target.
type typeCell struct {
	became string
	// refused says that the type is, and back that it is on the way back only.
	refused string
	back    bool
	// padded says that decimals came back with more zeros at their end.
	padded bool
	// dirty are the values that were set aside, with the reason.
	dirty []string
}

func (c typeCell) String() string {
	if c.refused != "" && !c.back {
		return "refused"
	}
	text := "`" + c.became + "`"
	if c.back {
		text += "; refused on its way back"
	}
	if c.padded {
		text += "; with zeros at the end"
	}
	if len(c.dirty) > 0 {
		text += "; dirty: " + strings.Join(c.dirty, ", ")
	}
	return text
}

// Every type of every system is copied into every other one, into a table that
// the job makes, and back into a table of the first. What comes back equals
// what went, but for values that were set aside and types that were refused,
// and docs/types.md says which.
func TestTypesThereAndBack(t *testing.T) {
	t.Parallel()
	systems := typeSystems()
	cells := make([][][]typeCell, len(systems))
	t.Run("from", func(t *testing.T) { // returns when all pairs have run
		for i, from := range systems {
			cells[i] = make([][]typeCell, len(systems))
			t.Run(from.name, func(t *testing.T) {
				t.Parallel()
				s := newPostgres(t, typesSetup)
				s.my = testenv.MariaDB(t).Database(t)
				from.fill(s, "source", from.rows())
				for k, to := range systems {
					t.Run("to "+to.name, func(t *testing.T) {
						t.Parallel()
						cells[i][k] = thereAndBack(t, s.in(t), from, to)
					})
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	var doc bytes.Buffer
	doc.WriteString(typesIntro)
	for i, from := range systems {
		writeTypes(&doc, systems, from, cells[i])
	}
	if *updateTypes {
		if err := os.WriteFile(typesDoc, doc.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if had, err := os.ReadFile(typesDoc); err != nil || !bytes.Equal(had, doc.Bytes()) {
		t.Errorf("docs/types.md is not what the copies gave (%v); go test ./test/cases -run TestTypesThereAndBack -update writes it anew", err)
	}
}

const typesIntro = `# Types

What each type of a source becomes in a table or file that a job makes in each
target. Made by copying a table of all types there and back between all systems
(` + "`go test ./test/cases -run TestTypesThereAndBack -update`" + `): what came back was
the same, but for the values listed as dirty, which the job sets aside with the
reason, and for types that are refused before anything is copied. A target that
knows no decimals without a scale gives them its own: they are then told with zeros
at the end. Of a text file the cell shows how the column's first value is written.
`

// writeTypes writes the table of a system: what became of its columns, by
// target and column.
func writeTypes(doc *bytes.Buffer, systems []*typeSystem, from *typeSystem, cells [][]typeCell) {
	fmt.Fprintf(doc, "\n## From %s\n\n%s\n\n| %s |", from.name, from.note, from.name)
	for _, to := range systems {
		fmt.Fprintf(doc, " %s |", to.name)
	}
	doc.WriteString("\n|" + strings.Repeat(" --- |", len(systems)+1) + "\n")
	for i, c := range from.columns {
		fmt.Fprintf(doc, "| `%s` |", c.native)
		for k := range systems {
			fmt.Fprintf(doc, " %s |", strings.ReplaceAll(cells[k][i].String(), "|", "\\|"))
		}
		doc.WriteString("\n")
	}
}

// thereAndBack copies the table source and returns what became of each column.
func thereAndBack(t *testing.T, s *scene, from, to *typeSystem) []typeCell {
	target, back := "target_"+to.name, "back_"+to.name
	from.fill(s, back, nil)
	cells := make([]typeCell, len(from.columns))
	chosen := make([]string, 0, len(cells)+1)
	chosen = append(chosen, "n")
	for i := range cells {
		chosen = append(chosen, fmt.Sprintf("c%d", i))
	}
	dirty := map[string]string{}
	step := func(name string, source func() string, sink string, cast bool) {
		for {
			columns := slices.Clone(chosen)
			for i, c := range columns {
				if at := from.column(c); at >= 0 && cast {
					columns[i] = fmt.Sprintf("{name: %s, cast: %q}", c, from.columns[at].native)
				}
			}
			reasons, err := s.typesCopied(name+"_"+to.name, source(), sink, columns)
			if err == nil {
				maps.Copy(dirty, reasons)
				return
			}
			column := refusedColumn(err, chosen)
			if column == "" {
				t.Fatalf("%s: %v", name, err)
			}
			cells[from.column(column)].refused, cells[from.column(column)].back = err.Error(), name == "back"
			chosen = slices.DeleteFunc(chosen, func(c string) bool { return c == column })
		}
	}
	types := func() map[string]string { return from.types(chosen) }
	step("there", func() string { return from.source("source", from.types(nil)) }, to.sink(target), false)
	step("back", func() string {
		if !from.untyped {
			return to.source(target, nil)
		}
		return to.source(target, types())
	}, from.sink(back), from.untyped && !to.text)
	for name, became := range to.told(s, target) {
		if i := from.column(name); i >= 0 {
			cells[i].became = became
		}
	}
	want, got := s.typeCells(from.source("source", from.types(nil))), s.typeCells(from.source(back, types()))
	for _, r := range from.rows() {
		n, cell := fmt.Sprint(r.n), &cells[r.column]
		_, isDirty := dirty[n]
		switch {
		case cell.refused != "":
		case want[n] == "":
			t.Errorf("row %s of the source (%s %s) cannot be read", n, from.columns[r.column].native, r.value)
		case isDirty:
			cell.dirty = append(cell.dirty, "`"+r.value+"`")
		case padded.ReplaceAllString(got[n], `$1"`) == padded.ReplaceAllString(want[n], `$1"`) && got[n] != want[n]:
			cell.padded = true
		case got[n] != want[n]:
			t.Errorf("%s %s: %q came back as %q", from.columns[r.column].native, r.value, want[n], got[n])
		}
	}
	return cells
}

// padded finds the zeros at the end of a decimal in what typeCells tells.
var padded = regexp.MustCompile(`("-?\d+\.\d*?)0*"`)

// refusedColumn finds the column that an error is about.
func refusedColumn(err error, chosen []string) string {
	if connector.ClassOf(err) != connector.Usage {
		return ""
	}
	for _, name := range regexp.MustCompile(`\bc\d+\b`).FindAllString(err.Error(), -1) {
		if slices.Contains(chosen, name) {
			return name
		}
	}
	return ""
}

// typesCopied runs a job over the chosen columns and returns the reasons of
// the dirty records by their n.
func (s *scene) typesCopied(name, source, sink string, chosen []string) (map[string]string, error) {
	s.t.Helper()
	sum, err := s.run(fmt.Sprintf("name: %s\nsource: {%s}\nsink: {%s}\ncolumns: [%s]\nerrors: {records: 100000, dirty: \"{dir}/%s.dirty\"}\n",
		name, source, sink, strings.Join(chosen, ", "), name))
	if err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	if sum.Dirty == 0 {
		return reasons, nil
	}
	lines := bufio.NewScanner(strings.NewReader(s.text(name + ".dirty")))
	for lines.Scan() {
		var d struct {
			Reason string
			Record struct{ N any }
		}
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			s.t.Fatal(err)
		}
		reasons[fmt.Sprint(d.Record.N)] = d.Reason
	}
	if int64(len(reasons)) != sum.Dirty {
		s.t.Fatalf("%d dirty records of %d can be told apart", len(reasons), sum.Dirty)
	}
	return reasons, nil
}

// typeCells reads an end by its connector: by n, each row's cells.
func (s *scene) typeCells(end string) map[string]string {
	s.t.Helper()
	registry := connectors.All()
	j, err := job.Parse([]byte(s.fill(fmt.Sprintf("name: look\nsource: {%s}\nsink: {stream: {}}\n", end))), "look.yaml", job.Vars{}, registry)
	if err != nil {
		s.t.Fatal(err)
	}
	source, err := j.Source.Definition.Source.New(j.Source.Options, connector.SourceEnv{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	own, err := source.Schema(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	rows := map[string]string{}
	var cursor connector.Cursor
	for first := connector.SplitID(0); ; {
		e, err := source.Enumerate(s.t.Context(), cursor, first, connector.Want{Parallelism: 1})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, split := range e.Splits {
			s.readTypes(source, split, own, rows)
		}
		if e.Done {
			return rows
		}
		cursor, first = e.Next, first+connector.SplitID(len(e.Splits))
	}
}

func (s *scene) readTypes(source connector.Source, split connector.Split, own *batch.Schema, rows map[string]string) {
	s.t.Helper()
	reader, err := source.Open(s.t.Context(), split, "")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	for {
		b := new(batch.Batch)
		b.Reset(own)
		if err := reader.Next(s.t.Context(), b); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			s.t.Fatal(err)
		}
		for i := range b.Rows {
			var text []string
			for c := range b.Columns {
				if cell := b.Columns[c].Cell(i); cell != nil {
					text = append(text, fmt.Sprintf("%s=%q", own.Fields[c].Name, cell))
				}
			}
			slices.Sort(text)
			rows[string(b.Columns[own.Index("n")].Cell(i))] = strings.Join(text, " ")
		}
	}
}
