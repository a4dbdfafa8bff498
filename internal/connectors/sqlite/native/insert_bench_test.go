package native

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"
)

const (
	benchRows  = 100000
	benchTable = "CREATE TABLE t(a INTEGER, b INTEGER, c INTEGER, d TEXT, e TEXT, f TEXT, g TEXT, h TEXT, i REAL, j REAL)"
	benchTail  = "2024-01-31 13:05:00some text or other here, and more0123456789"
)

func benchInsert(k int) string {
	row := "(?" + strings.Repeat(",?", 9) + ")"
	return "INSERT INTO t VALUES " + row + strings.Repeat(","+row, k-1)
}

func BenchmarkInsertNative(b *testing.B) {
	for _, k := range []int{1, 4, 16, 50, 100, 400} {
		b.Run(fmt.Sprintf("rows=%d", k), func(b *testing.B) {
			for b.Loop() {
				c, err := Open(filepath.Join(b.TempDir(), "x.db"), CreateMode, time.Second)
				if err != nil {
					b.Fatal(err)
				}
				if err := c.Exec(benchTable + "; BEGIN IMMEDIATE"); err != nil {
					b.Fatal(err)
				}
				s, err := c.Prepare(benchInsert(k))
				if err != nil {
					b.Fatal(err)
				}
				var m Memory
				for r := 0; r < benchRows; {
					p, err := m.Copy([]byte(benchTail))
					if err != nil {
						b.Fatal(err)
					}
					for j := range k {
						o := j * 10
						s.BindInt64(o, int64(r))
						s.BindInt64(o+1, int64(r*7))
						s.BindInt64(o+2, 42)
						s.BindText(o+3, p, 10)
						s.BindText(o+4, p, 19)
						s.BindText(o+5, p+19, 20)
						s.BindText(o+6, p+39, 10)
						s.BindText(o+7, p+5, 30)
						s.BindFloat(o+8, float64(r)/7)
						s.BindFloat(o+9, 1.5)
						r++
					}
					if _, err := s.Step(); err != nil {
						b.Fatal(err)
					}
				}
				if err := c.Exec("COMMIT"); err != nil {
					b.Fatal(err)
				}
				s.Close()
				m.Free()
				c.Close()
			}
			b.ReportMetric(float64(benchRows*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkInsertDatabaseSQL(b *testing.B) {
	for _, raw := range []bool{false, true} {
		for _, k := range []int{1, 50} {
			b.Run(fmt.Sprintf("driver=%v/rows=%d", raw, k), func(b *testing.B) {
				for b.Loop() {
					db, err := sql.Open("sqlite", filepath.Join(b.TempDir(), "x.db"))
					if err != nil {
						b.Fatal(err)
					}
					ctx := context.Background()
					conn, _ := db.Conn(ctx)
					conn.ExecContext(ctx, benchTable)
					conn.ExecContext(ctx, "BEGIN IMMEDIATE")
					args := make([]any, k*10)
					named := make([]driver.NamedValue, k*10)
					fill := func(r int) {
						for j := range k {
							o := j * 10
							args[o] = int64(r + j)
							args[o+1] = int64(r * 7)
							args[o+2] = int64(42)
							args[o+3] = benchTail[:10]
							args[o+4] = benchTail[:19]
							args[o+5] = benchTail[19:39]
							args[o+6] = benchTail[39:49]
							args[o+7] = benchTail[5:35]
							args[o+8] = float64(r) / 7
							args[o+9] = 1.5
						}
						for i := range args {
							named[i] = driver.NamedValue{Ordinal: i + 1, Value: args[i]}
						}
					}
					if raw {
						conn.Raw(func(dc any) error {
							st, err := dc.(driver.ConnPrepareContext).PrepareContext(ctx, benchInsert(k))
							if err != nil {
								b.Fatal(err)
							}
							for r := 0; r < benchRows; r += k {
								fill(r)
								if _, err := st.(driver.StmtExecContext).ExecContext(ctx, named); err != nil {
									b.Fatal(err)
								}
							}
							return st.Close()
						})
					} else {
						st, err := conn.PrepareContext(ctx, benchInsert(k))
						if err != nil {
							b.Fatal(err)
						}
						for r := 0; r < benchRows; r += k {
							fill(r)
							if _, err := st.ExecContext(ctx, args...); err != nil {
								b.Fatal(err)
							}
						}
						st.Close()
					}
					conn.ExecContext(ctx, "COMMIT")
					conn.Close()
					db.Close()
				}
				b.ReportMetric(float64(benchRows*b.N)/b.Elapsed().Seconds(), "rows/s")
			})
		}
	}
}
