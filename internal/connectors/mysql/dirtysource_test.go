package mysql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
)

// Days that are none, and a BOOLEAN of 2, are dirty records that say why; the
// others of the table are read (exactness rule 13).
func TestValuesWithoutAnEqualAreRejected(t *testing.T) {
	r := newSourceRig(t, `SET sql_mode = 'ALLOW_INVALID_DATES';
CREATE TABLE t (id int PRIMARY KEY, b boolean, d date, dt datetime(3), ts timestamp NULL);
INSERT INTO t VALUES (1, 1, '2024-01-31', NULL, NULL), (2, 2, NULL, NULL, NULL), (3, 0, '2024-00-00', NULL, NULL), (4, 0, NULL, '2024-01-00 11:00:00.5', NULL),
 (5, NULL, '2024-02-31', NULL, NULL), (6, 0, '0000-00-00', '0000-00-00 00:00:00', NULL)`)
	rows, rejects := readAll(t, r.source(nil, connector.SourceEnv{}), connector.Want{})
	if got := strings.Join(rows, " "); got != "1|true|2024-01-31|NULL|NULL 6|false|0000-00-00|0000-00-00 00:00:00|NULL" {
		t.Errorf("read %s", got)
	}
	var got []string
	for _, rj := range rejects {
		got = append(got, fmt.Sprintf("%s %s %s: %q", rj.Where, rj.Column, rj.Reason, rj.Values))
	}
	want := []string{
		`key 2 b ` + errNotBool.Error() + `: ["2" "2" "" "" ""]`,
		`key 3 d ` + errNoDay.Error() + `: ["3" "0" "2024-00-00" "" ""]`,
		`key 4 dt ` + errNoDay.Error() + `: ["4" "0" "" "2024-01-00 11:00:00.500" ""]`,
		`key 5 d ` + errNoDay.Error() + `: ["5" "" "2024-02-31" "" ""]`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("rejected\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTinyIntOneAsANumber(t *testing.T) {
	r := newSourceRig(t, "CREATE TABLE t (b boolean); INSERT INTO t VALUES (-3), (127)")
	s := r.source(map[string]any{"tinyint1": "int"}, connector.SourceEnv{})
	rows, _ := readAll(t, s, connector.Want{})
	if got := typesOf(t, s) + ": " + strings.Join(rows, " "); got != "b int8: -3 127" {
		t.Error(got)
	}
}

// A table of rejects alone gives batches of bounded size, and its end.
func TestManyRejects(t *testing.T) {
	const n = 20000
	r := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY, b boolean); INSERT INTO t SELECT seq, 2 FROM seq_1_to_20000")
	s := r.source(nil, connector.SourceEnv{})
	rd := must(s.Open(t.Context(), allSplits(t, s, connector.Want{})[0], ""))(t)
	defer func() { check(t, rd.Close()) }()
	b := new(batch.Batch)
	b.Reset(must(s.Schema(t.Context()))(t))
	check(t, rd.Next(t.Context(), b))
	if len(b.Rejects) == 0 || len(b.Rejects) > batch.MaxRows || b.Rows != 0 {
		t.Errorf("the first batch has %d rejects and %d rows", len(b.Rejects), b.Rows)
	}
	if pos, ok := rd.Position(); !ok || pos != connector.Position(fmt.Sprintf("[%q]", fmt.Sprint(len(b.Rejects)))) {
		t.Errorf("the position after %d rejects is %s, %v", len(b.Rejects), pos, ok)
	}
	if _, rejects := readAll(t, s, connector.Want{}); len(rejects) != n {
		t.Errorf("%d rejects, want %d", len(rejects), n)
	}
}
