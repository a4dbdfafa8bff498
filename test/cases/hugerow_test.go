package cases

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// mostRowMemory bounds the process that passes such a row: four times its size.
const mostRowMemory = 4 * hugeBytes

// TestMemoryOfAHugeRow passes a row of 100 MiB that no compression makes
// smaller through all systems; what PostgreSQL gives is not measured here.
func TestMemoryOfAHugeRow(t *testing.T) {
	s := newPostgres(t, "")
	s.my = testenv.MariaDB(t).Database(t)
	s.writeHugeRow("in.csv")
	slow := testenv.MariaDBWith(t, "local_infile=0", "max_allowed_packet=256M", "innodb_log_file_size=1100M")
	inserted := slow.Database(t)
	const key = "CREATE TABLE upserted (n INT PRIMARY KEY, v LONGTEXT)"
	testenv.MariaDB(t).Exec(t, s.my, key)
	for _, step := range []struct{ name, source, sink string }{
		{"csv to parquet", `csv: {path: "{dir}/in.csv", types: {n: int32, v: text}}`, `parquet: {path: "{dir}/a.parquet"}`},
		{"parquet to mysql", `parquet: {path: "{dir}/a.parquet"}`, `mysql: {url: {my}, table: a}`},
		{"parquet to mysql by INSERT", `parquet: {path: "{dir}/a.parquet"}`, fmt.Sprintf(`mysql: {url: %q, table: a}`, inserted)},
		{"parquet to mysql by upsert", `parquet: {path: "{dir}/a.parquet"}`, `mysql: {url: {my}, table: upserted, mode: upsert}`},
		{"mysql to parquet", `mysql: {url: {my}, table: upserted}`, `parquet: {path: "{dir}/b.parquet", compression: snappy}`},
		{"parquet to sqlite", `parquet: {path: "{dir}/b.parquet"}`, `sqlite: {path: "{dir}/a.db", table: a}`},
		{"sqlite to mysql", `sqlite: {path: "{dir}/a.db", table: a}`, `mysql: {url: {my}, table: b}`},
		{"mysql to jsonl", `mysql: {url: {my}, table: b}`, `jsonl: {path: "{dir}/a.jsonl"}`},
		{"jsonl to postgres", `jsonl: {path: "{dir}/a.jsonl"}`, `postgres: {url: {pg}, table: a}`},
	} {
		t.Run(step.name, func(t *testing.T) {
			s.in(t).runWithin(mostRowMemory, fmt.Sprintf("name: huge\nsource: {%s}\nsink: {%s}\nparallelism: 1\n", step.source, step.sink))
		})
	}
	const look = "SELECT MD5(v) FROM a WHERE n = 2"
	s.expect("SELECT md5(v) FROM a WHERE n = 2", testenv.MariaDB(t).Lines(t, s.my, look)...)
	slow.Expect(t, inserted, look, testenv.MariaDB(t).Lines(t, s.my, look)...)
}

// writeHugeRow writes a file of a row of letters, between small ones, piece by
// piece: a new process is counted with the memory of its parent.
func (s *scene) writeHugeRow(name string) {
	s.t.Helper()
	f, err := os.Create(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	random := rand.New(rand.NewPCG(1, 2))
	_, _ = w.WriteString("n,v\n1,small\n2,")
	for range hugeBytes {
		_ = w.WriteByte("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-"[random.Uint32()>>26])
	}
	_, _ = w.WriteString("\n3,last\n")
	if err := w.Flush(); err != nil {
		s.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		s.t.Fatal(err)
	}
}
