package mysql

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/testenv"
)

// Values of about the length of a packet of the protocol, which ends with an
// empty one when it is exact, and of many packets, come whole.
func TestHugeValues(t *testing.T) {
	const packet = 1<<24 - 1
	r := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY, v longblob)")
	lengths := []int{packet - 7, packet - 6, packet - 5, 2*packet - 11}
	for i, n := range lengths {
		r.maria.Exec(t, r.url, fmt.Sprintf("INSERT INTO t VALUES (%d, repeat('x', %d))", i, n))
	}
	s := r.source(nil, connector.SourceEnv{})
	rows, _ := readAll(t, s, connector.Want{Ordered: true})
	if len(rows) != len(lengths) {
		t.Fatalf("%d rows, want %d", len(rows), len(lengths))
	}
	for i, row := range rows {
		if want := fmt.Sprintf("%d|", i) + string(bytes.Repeat([]byte("x"), lengths[i])); row != want {
			t.Errorf("a value of %d bytes comes as %d", lengths[i], len(row)-2)
		}
	}
}

// A value of 100 MiB takes at most four times its size, the whole process counted.
func TestMemoryOfAHugeMySQLValue(t *testing.T) {
	const huge = 100 << 20
	r := newSourceRig(t, "CREATE TABLE t (id int PRIMARY KEY, v longtext); INSERT INTO t VALUES (1, 'small'), (3, 'last')")
	r.maria.Exec(t, r.url, fmt.Sprintf("INSERT INTO t VALUES (2, repeat('0123456789abcdef', %d))", huge/16))
	rows, _ := readAll(t, r.source(nil, connector.SourceEnv{}), connector.Want{Ordered: true})
	sum := md5.Sum([]byte(rows[1][len("2|"):]))
	r.maria.Expect(t, r.url, "SELECT md5(v) FROM t WHERE id = 2", hex.EncodeToString(sum[:]))
	p, exit := testenv.RunProcess(t, testenv.Command{
		Path: testenv.Leat(t), Memory: true, Args: []string{"copy", r.url + "?table=t", "stream:", "--parallelism", "1", "--state", t.TempDir(), "--progress", "none"},
	})
	if exit.Code != 0 {
		t.Fatalf("exit code %d\n%s", exit.Code, p.Stderr())
	}
	t.Logf("peak %d MiB", exit.MaxRSS>>20)
	if exit.MaxRSS > 4*huge {
		t.Errorf("peak %d MiB of memory for a value of %d", exit.MaxRSS>>20, huge>>20)
	}
}
