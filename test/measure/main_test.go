package measure

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const lineitem = `(orderkey int8, partkey int8, suppkey int8, linenumber int4, quantity numeric(15,2), extendedprice numeric(15,2),
	discount numeric(15,2), tax numeric(15,2), returnflag text, linestatus text, shipdate date, commitdate date, receiptdate date,
	shipinstruct text, shipmode text, comment text)`

// writeLineitem writes n records of 16 mixed columns, about 125 bytes each.
func writeLineitem(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lineitem.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintln(w, "orderkey,partkey,suppkey,linenumber,quantity,extendedprice,discount,tax,returnflag,linestatus,shipdate,commitdate,receiptdate,shipinstruct,shipmode,comment")
	for i := range n {
		fmt.Fprintf(w, "%d,%d,%d,%d,%d.00,%d.%02d,0.%02d,0.%02d,N,O,%d-%02d-%02d,1997-03-01,1998-11-28,DELIVER IN PERSON,TRUCK,carefully final deposits %d\n",
			i*7, i%200_000, i%10_000, i%7, i%50, i%90_000, i%100, i%11, i%9, 1992+i%7, 1+i%12, 1+i%28, i)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// leat runs the binary to a good end and returns what it used.
func leat(t *testing.T, args ...string) testenv.Exit {
	t.Helper()
	args = append(args, "--state", filepath.Join(t.TempDir(), "state"), "--progress", "none")
	p, exit := testenv.RunProcess(t, testenv.Command{Path: testenv.Leat(t), Args: args, Memory: true})
	if exit.Code != 0 {
		t.Fatalf("leat %v: exit code %d\n%s", args, exit.Code, p.Stderr())
	}
	return exit
}
