package cases

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/testenv"
)

const (
	bad3       = "n,v\n1,a\nx,b\n2,c\n3.5,d\n99999999999,e\n4,f\n"
	badToTable = "source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\n"
)

func TestTheLimitOfDirtyRecords(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (n int, v text)")
	s.write("in.csv", bad3)
	leat := binary(t)
	run := func(s *scene, errorsKey string) (*testenv.Process, testenv.Exit) {
		s.exec("DROP TABLE IF EXISTS leat_runs, leat_positions; TRUNCATE t")
		s.write("job.yaml", s.fill(badToTable+errorsKey))
		return testenv.RunProcess(s.t, testenv.Command{Path: leat, Args: []string{"run", s.path("job.yaml"), "--state", s.state, "--progress", "none", "--summary", "json"}})
	}
	t.Run("three where two are allowed fail the job", func(t *testing.T) {
		s := s.in(t)
		p, exit := run(s, "errors: {records: 2}\n")
		if exit.Code != 3 || !strings.Contains(p.Stdout(), `"state":"failed"`) {
			t.Errorf("exit code %d\n%s%s", exit.Code, p.Stdout(), p.Stderr())
		}
	})
	t.Run("three where three are allowed do not, and show", func(t *testing.T) {
		s := s.in(t)
		p, exit := run(s, "errors: {records: 3}\n")
		if exit.Code != 0 || !strings.Contains(p.Stdout(), `"state":"done_with_dirty"`) || !strings.Contains(p.Stdout(), `"dirty":3`) {
			t.Errorf("exit code %d\n%s%s", exit.Code, p.Stdout(), p.Stderr())
		}
		s.expect("SELECT n FROM t ORDER BY 1", "1", "2", "4")
	})
	t.Run("without a limit the first fails the job, and its reason is told", func(t *testing.T) {
		s := s.in(t)
		p, exit := run(s, "")
		if exit.Code != 3 {
			t.Errorf("exit code %d\n%s", exit.Code, p.Stderr())
		}
		for _, word := range []string{"in.csv: line 3", "column n", "not a whole number", "dirty.jsonl"} {
			if !strings.Contains(p.Stderr(), word) {
				t.Errorf("standard error does not say %q:\n%s", word, p.Stderr())
			}
		}
	})
}

// The same number in the summary, in the file and in what is missing: the last
// ones are counted too.
func TestDirtyRecordsAreCountedAndKept(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE t (n int, v text)")
	s.write("in.csv", bad3)
	sum := s.done(badToTable + "errors: {records: 10, dirty: \"{dir}/bad.jsonl\"}\n")
	if sum.Dirty != 3 || sum.State != jobmaster.DoneWithDirty {
		t.Errorf("summary %+v", sum)
	}
	lines := strings.Split(strings.TrimSpace(s.text("bad.jsonl")), "\n")
	if len(lines) != 3 {
		t.Fatalf("%d records are kept", len(lines))
	}
	for i, want := range []struct{ value, where string }{{"x", "line 3"}, {"3.5", "line 5"}, {"99999999999", "line 6"}} {
		var kept struct {
			Where, Column, Reason string
			Record                map[string]any
		}
		if err := json.Unmarshal([]byte(lines[i]), &kept); err != nil {
			t.Fatal(err)
		}
		if kept.Record["n"] != want.value || kept.Column != "n" || kept.Reason == "" || !strings.Contains(kept.Where, want.where) {
			t.Errorf("kept %s", lines[i])
		}
	}
	t.Run("the next job of the process begins at none", func(t *testing.T) {
		s := s.in(t)
		s.write("good.csv", "n,v\n1,a\n")
		sum := s.done("source: {csv: {path: \"{dir}/good.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\n")
		if sum.Dirty != 0 || sum.State != jobmaster.Done {
			t.Errorf("summary %+v", sum)
		}
	})
}

// The line of a dirty record is exact though others before it were set aside
// elsewhere: by the reader, where, the mapper or the writer.
func TestTheLineOfADirtyRecordIsExact(t *testing.T) {
	s := newPostgres(t, "CREATE TABLE lr (a int CHECK (a <> 13), b bytea)")
	s.write("lr.csv", "a,b\n1,\\x00\nx,\\x01\n3,\\xzz\n4\n0,\\x00\n13,\\x00\n4,\\xq\n5.5,\\x01\n6,\\x00\n")
	s.done("source: {csv: {path: \"{dir}/lr.csv\"}}\nsink: {postgres: {url: {pg}, table: lr}}\nwhere: a != \"0\"\nerrors: {records: 9, dirty: \"{dir}/bad.jsonl\"}\n")
	var got []string
	for line := range strings.Lines(s.text("bad.jsonl")) {
		var kept struct{ Where string }
		if err := json.Unmarshal([]byte(line), &kept); err != nil {
			t.Fatal(err)
		}
		_, where, _ := strings.Cut(kept.Where, "lr.csv: ")
		got = append(got, where)
	}
	slices.Sort(got)
	if want := []string{"line 3", "line 4", "line 5", "line 7", "line 8", "line 9"}; !slices.Equal(got, want) {
		t.Errorf("the dirty records are at %q, want %q\n%s", got, want, s.text("bad.jsonl"))
	}
	s.expect("SELECT a FROM lr ORDER BY a", "1", "6")
}

// What the target refuses for good is dirty at once: it is not tried again.
func TestWhatATargetRefusesIsDirtyAtOnce(t *testing.T) {
	s := newPostgres(t, `CREATE TABLE t (n int PRIMARY KEY, v varchar(3), c char(2), d numeric(4,2), j jsonb, day date, ch int CHECK (ch > 0), u uuid, nn text NOT NULL)`)
	const head = "n,v,c,d,j,day,ch,u,nn\n"
	good := "1,abc,xy,1.25,{},2024-02-29,1,f47ac10b-58cc-4372-a567-0e02b2c3d479,x\n"
	var text strings.Builder
	text.WriteString(head + good)
	bads := []struct{ column, value string }{
		{"v", "abcd"}, {"c", "xyz"}, {"d", "100.00"}, {"d", "1.255"}, {"j", "{"}, {"day", "2023-02-29"}, {"ch", "-1"}, {"u", "nonsense"}, {"nn", ""}, {"n", "1"},
	}
	columns := strings.Split(strings.TrimSpace(head), ",")
	for i, b := range bads {
		cells := strings.Split(strings.TrimSpace(good), ",")
		cells[0] = fmt.Sprint(i + 2)
		for c, name := range columns {
			if name == b.column {
				cells[c] = b.value
			}
		}
		text.WriteString(strings.Join(cells, ",") + "\n")
	}
	s.write("in.csv", text.String())
	sum := s.done("source: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\nerrors: {records: 10, dirty: \"{dir}/bad.jsonl\"}\n")
	if sum.Dirty != int64(len(bads)) || sum.Written != 1 {
		t.Errorf("summary %+v\n%s", sum, s.text("bad.jsonl"))
	}
	s.expect("SELECT n, v, d FROM t", "1|abc|1.25")
}

// A share is judged only once it means something: after 1,000 records, and at
// the end.
func TestShareOfDirtyRecords(t *testing.T) {
	file := func(bad, good int) string {
		return "n,v\n" + strings.Repeat("x,bad\n", bad) + strings.Repeat("1,good\n", good)
	}
	for _, c := range []struct {
		name      string
		bad, good int
		fails     bool
	}{
		{"all of the first records, but few in the end", 20, 5000, false},
		{"more than the share in the end", 300, 2000, true},
		{"more than the share of few", 1, 9, true},
		{"less than the share of few", 1, 99, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newPostgres(t, "CREATE TABLE t (n int, v text)")
			s.write("in.csv", file(c.bad, c.good))
			sum, err := s.run(badToTable + "errors: {percentage: 5}\n")
			if c.fails != errors.Is(err, local.ErrDirtyLimit) || !c.fails && err != nil {
				t.Errorf("error %v, summary %+v", err, sum)
			}
		})
	}
}
