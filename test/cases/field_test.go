package cases

import (
	"bufio"
	"crypto/sha256"
	"io"
	"os"
	"strings"
	"testing"
)

// TestMemoryOfAFieldOf50MiB passes one such field from file to file, within
// three times its size (as it is read, as it is written, and all else) and from
// a file to PostgreSQL within four.
func TestMemoryOfAFieldOf50MiB(t *testing.T) {
	const size = 50 << 20
	s := newPostgres(t, "CREATE TABLE t (id int, x text)")
	f, err := os.Create(s.path("in.csv"))
	if err != nil {
		t.Fatal(err)
	}
	// Piece by piece: a new process is counted with the memory of its parent.
	w := bufio.NewWriter(f)
	small, piece := strings.Repeat("1,small\n", 2000), strings.Repeat(`ab,""cd`, 1024)
	_, _ = w.WriteString("id,x\n" + small + `7,"`)
	for range size / len(piece) {
		_, _ = w.WriteString(piece)
	}
	_, _ = w.WriteString("\"\n" + small)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s.runWithin(3*size, "name: lines\nsource: {csv: {path: \"{dir}/in.csv\"}}\nsink: {jsonl: {path: \"{dir}/out.jsonl\"}}\n")
	s.runWithin(3*size, "name: fields\nsource: {csv: {path: \"{dir}/in.csv\"}}\nsink: {csv: {path: \"{dir}/out.csv\"}}\n")
	s.runWithin(4*size, "name: table\nsource: {csv: {path: \"{dir}/in.csv\"}}\nsink: {postgres: {url: {pg}, table: t}}\n")
	if s.hash("in.csv") != s.hash("out.csv") {
		t.Error("the copy is another")
	}
}

// hash is that of a file's content.
func (s *scene) hash(name string) [sha256.Size]byte {
	s.t.Helper()
	f, err := os.Open(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		s.t.Fatal(err)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
