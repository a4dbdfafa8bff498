package postgres

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Rule 5: what a record does to a limit, an index, a trigger's code is that
// record's fault, whichever SQLSTATE tells it.
func TestOtherFaultsOfRecords(t *testing.T) {
	t.Parallel()
	const code = ` CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE x int; BEGIN
IF new.v = 'strict' THEN SELECT id INTO STRICT x FROM t WHERE false; END IF;
IF new.v = 'assert' THEN ASSERT false; END IF;
IF new.v = 'case' THEN CASE new.id WHEN 0 THEN NULL; END CASE; END IF;
IF new.v = 'two' THEN x := (SELECT 1 UNION SELECT 2); END IF;
IF new.v = 'own' THEN RAISE 'own' USING ERRCODE = 'U0815'; END IF;
IF new.v = 'routine' THEN RAISE 'routine' USING ERRCODE = '2F003'; END IF;
IF new.v = 'external' THEN RAISE 'external' USING ERRCODE = '38001'; END IF;
IF new.v = 'action' THEN RAISE 'action' USING ERRCODE = '09000'; END IF;
RETURN new; END $$; `
	deep := strings.Repeat("[", 40000) + strings.Repeat("]", 40000)
	faults := []string{"strict", "assert", "case", "two", "own", "routine", "external", "action"}
	for name, c := range map[string]struct {
		setup  string
		faults []string
		// before is how many rows stand before each fault; 50 when it is 0.
		before int
	}{
		"index row":         {"CREATE TABLE t (id int, v text); CREATE INDEX ON t (v)", []string{noise(9000), noise(12000)}, 0},
		"row":               {"CREATE TABLE t (id int, v text); ALTER TABLE t ALTER v SET STORAGE PLAIN", []string{noise(9000), "1", noise(9001), "1", "1", "1"}, 900},
		"stack depth":       {"CREATE TABLE t (id int, v jsonb)", []string{deep}, 0},
		"before trigger":    {"CREATE TABLE t (id int, v text);" + code + "CREATE TRIGGER f BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()", faults, 0},
		"after trigger":     {"CREATE TABLE t (id int, v text);" + code + "CREATE TRIGGER f AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION f()", faults, 0},
		"in the last place": {"CREATE TABLE t (id int, v text); CREATE INDEX ON t (v)", []string{"1", "1", "1", noise(9000)}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.setup, nil, untyped("id", "v")...)
			var rows, want, good []string
			for i, fault := range c.faults {
				for n := range cmp.Or(c.before, 50) {
					rows = append(rows, fmt.Sprintf("%d|1", i*1000+n))
				}
				rows = append(rows, fmt.Sprintf("%d|%s", i*1000+999, fault))
				if fault != "1" {
					want = append(want, fmt.Sprint(i*1000+999))
				}
			}
			for _, row := range rows {
				if id, _, _ := strings.Cut(row, "|"); !slices.Contains(want, id) {
					good = append(good, id)
				}
			}
			if c := r.load(rows...); !c.Balanced() || c.Dirty != int64(len(want)) {
				t.Errorf("counters: %+v", c)
			}
			var got []string
			for _, reason := range r.rejected {
				id, _, _ := strings.Cut(reason, " ")
				got = append(got, id)
			}
			slices.Sort(want)
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("rejected %v, want %v", got, want)
			}
			r.expect("SELECT id FROM t ORDER BY id", good...)
		})
	}
}

// noise is a text that does not compress.
func noise(n int) string {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('a' + random.IntN(26))
	}
	return string(text)
}

// A chunk that is sent again in the middle of a batch, and of whose rows only
// an earlier batch's are left, takes nothing of that batch into the rest.
func TestRecoveryWithinABatch(t *testing.T) {
	t.Parallel()
	r := newRig(t, "CREATE TABLE t (id int, v text CHECK (v NOT LIKE 'x%'))", nil, untyped("id", "v")...)
	r.prepare(1)
	w, state := r.claim(0, 1)
	const rows = 100
	text := strings.Repeat("y", copyBytes/rows-1000)
	second := []string{"-1|x" + strings.Repeat(text, 4)} // it ends the chunk
	var first, want []string
	for i := range rows {
		first = append(first, fmt.Sprintf("%d|%s", i, text))
		second = append(second, fmt.Sprintf("%d|y", rows+i))
	}
	for i := range 2 * rows {
		want = append(want, fmt.Sprint(i))
	}
	check(t, w.Write(t.Context(), r.batch(first...)))
	check(t, w.Write(t.Context(), r.batch(second...)))
	commit(t, w, state, 2*rows+1, true, func() int64 { return int64(len(r.rejected)) })
	if len(r.rejected) != 1 {
		t.Errorf("%d records are rejected, want 1", len(r.rejected))
	}
	r.expect("SELECT id FROM t ORDER BY id", want...)
}
