package postgres

import (
	"slices"
	"strings"
	"testing"
)

// Rule 5: writers that judge uniqueness only at the commit would wait for each
// other in a circle; such a target takes one.
func TestDeferrableUnique(t *testing.T) {
	t.Parallel()
	for setup, want := range map[string]int{
		"CREATE TABLE t (id int, v int UNIQUE DEFERRABLE INITIALLY DEFERRED)":       1,
		"CREATE TABLE t (id int PRIMARY KEY DEFERRABLE)":                            1,
		"CREATE TABLE t (id int4range, EXCLUDE USING gist (id WITH &&) DEFERRABLE)": 1,
		"CREATE TABLE t (id int PRIMARY KEY, boss int REFERENCES t DEFERRABLE)":     0,
		"CREATE TABLE t (id int PRIMARY KEY, v int UNIQUE)":                         0,
		`CREATE TABLE t (id int, v int) PARTITION BY RANGE (id);
CREATE TABLE t1 PARTITION OF t (UNIQUE (v) DEFERRABLE) FOR VALUES FROM (0) TO (1000)`: 1,
	} {
		r := newRig(t, setup, nil, untyped("id")...)
		plan := must(r.sink.Resolve(t.Context(), r.in))(t)
		doubted := slices.ContainsFunc(plan.Doubts, func(d string) bool { return strings.Contains(d, "one writer") })
		if plan.MaxWriters != want || doubted != (want == 1) {
			t.Errorf("%s: %d writers, doubts %q", setup, plan.MaxWriters, plan.Doubts)
		}
	}
}

// A deferrable constraint of a partition's own is judged before the commit too.
func TestDeferrableOfAPartition(t *testing.T) {
	t.Parallel()
	r := newRig(t, `CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE t (id int, p int) PARTITION BY RANGE (id);
CREATE TABLE t1 PARTITION OF t (FOREIGN KEY (p) REFERENCES p DEFERRABLE INITIALLY DEFERRED) FOR VALUES FROM (0) TO (1000); INSERT INTO p VALUES (1)`, nil, untyped("id", "p")...)
	if c := r.load("1|1", "2|2", "3|1"); c.Written != 2 || c.Dirty != 1 {
		t.Errorf("counters: %+v", c)
	}
}

// Each record that deferred constraints refuse is told its own reason.
func TestReasonsOfDeferredConstraints(t *testing.T) {
	t.Parallel()
	r := newRig(t, `CREATE TABLE p (id int PRIMARY KEY); INSERT INTO p VALUES (1), (2);
CREATE TABLE t (id int PRIMARY KEY, p int REFERENCES p DEFERRABLE INITIALLY DEFERRED, u int UNIQUE DEFERRABLE INITIALLY DEFERRED)`,
		nil, untyped("id", "p", "u")...)
	if c := r.load("1|1|1", "2|9|2", "3|1|1", "4|2|7", "5|1|8", "6|8|9"); c.Written != 3 || c.Dirty != 3 {
		t.Errorf("counters: %+v", c)
	}
	slices.Sort(r.rejected)
	for i, want := range []string{"(p)=(9)", "(u)=(1)", "(p)=(8)"} {
		if i >= len(r.rejected) || !strings.Contains(r.rejected[i], want) {
			t.Errorf("want %s in the reason of record %d: %q", want, i, r.rejected)
		}
	}
}
