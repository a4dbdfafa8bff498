package measure

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mostParquetMemory is the peak of resident memory where row groups are held.
const mostParquetMemory = 250_000_000

const lineitemTypes = `{orderkey: int64, partkey: int64, suppkey: int64, linenumber: int32, quantity: "decimal(15,2)", extendedprice: "decimal(15,2)",
	discount: "decimal(15,2)", tax: "decimal(15,2)", returnflag: text, linestatus: text, shipdate: date, commitdate: date, receiptdate: date,
	shipinstruct: text, shipmode: text, comment: text}`

// TestMemoryOfParquetIsFlat copies tables of 40 and 160 MB, one of very wide
// rows and one of very many columns into Parquet and back.
func TestMemoryOfParquetIsFlat(t *testing.T) {
	for name, path := range map[string]string{
		"300,000 rows":          writeLineitem(t, 300_000),
		"1,200,000 rows":        writeLineitem(t, 1_200_000),
		"rows of 20 KB":         writeTexts(t, 10_000, 4, 5000),
		"1,500 columns":         writeTexts(t, 20_000, 1500, 0),
		"1,500 columns of text": writeTexts(t, 5_000, 1500, 10),
	} {
		dir := filepath.Join(t.TempDir(), "out") + "/"
		in := leat(t, "copy", path, dir, "--format", "parquet", "--parallelism", "2")
		bounded(t, "csv to parquet, "+name, in, mostParquetMemory)
		out := leat(t, "copy", dir+"*.parquet", filepath.Join(t.TempDir(), "back")+"/", "--parallelism", "2")
		bounded(t, "parquet to csv, "+name, out, mostParquetMemory)
	}
}

// writeTexts writes records of so many columns, of random texts of a length;
// of length 0 nearly all are NULL.
func writeTexts(t *testing.T, rows, columns, length int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "texts.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range columns {
		fmt.Fprint(w, strings.Repeat(",", min(i, 1)), "c", i)
	}
	text := make([]byte, length)
	for i := range rows {
		fmt.Fprintf(w, "\n%d", i)
		for range columns - 1 {
			for k := range text {
				text[k] = 'a' + byte(random.IntN(26))
			}
			fmt.Fprintf(w, ",%s", text)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
