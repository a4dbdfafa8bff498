package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/storage"
)

func TestSplitsOfAnySizeGiveEachRecordOnce(t *testing.T) {
	text, rows := numbered(500)
	name := filepath.Join(t.TempDir(), "a.txt")
	for _, ends := range []string{"\n", ""} { // the last line with and without its end
		put(t, storage.Local{}, name, []byte(strings.TrimSuffix(text, "\n")+ends))
		for _, size := range []option.Size{1, 7, 100, 1000, 100000} {
			s := newTestSource(t, storage.Local{}, lineFormat{header: true, rows: 13}, SourceOptions{Path: []string{name}, SplitSize: size})
			equalRows(t, readAllRows(t, s, connector.Want{Parallelism: 3}), rows)
		}
	}
}

func TestOrderedSourceHasOneSplitPerFile(t *testing.T) {
	text, rows := numbered(500)
	dir := t.TempDir()
	put(t, storage.Local{}, filepath.Join(dir, "a.txt"), []byte(text))
	put(t, storage.Local{}, filepath.Join(dir, "b.txt"), []byte(text))
	s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{dir}, SplitSize: 100})
	if n := len(enumerate(t, s, connector.Want{Ordered: true})); n != 2 {
		t.Errorf("%d splits", n)
	}
	equalRows(t, readAllRows(t, s, connector.Want{Ordered: true}), append(slices.Clone(rows), rows...))
}

func TestReadingGoesOnFromEachPosition(t *testing.T) {
	text, rows := numbered(200)
	dir := t.TempDir()
	for name, c := range map[string]Compression{"a.txt": Plain, "a.txt.gz": Gzip, "a.txt.zst": Zstd} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, name)
			put(t, storage.Local{}, path, pack(t, c, text))
			s := newTestSource(t, storage.Local{}, lineFormat{header: true, rows: 9}, SourceOptions{Path: []string{path}})
			split := enumerate(t, s, connector.Want{})[0]
			r, err := s.Open(t.Context(), split, "")
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			schema, _ := s.Schema(t.Context())
			var pool batch.Pool
			var before []string
			for {
				b := pool.Get(schema)
				if err := r.Next(t.Context(), b); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				before = appendRows(before, b)
				pos, ok := r.Position()
				if !ok {
					t.Fatal("no position")
				}
				after, err := rowsOf(t.Context(), s, split, pos)
				if err != nil {
					t.Fatal(err)
				}
				equalRows(t, append(slices.Clone(before), after...), rows)
			}
			equalRows(t, before, rows)
		})
	}
}

func pack(t *testing.T, c Compression, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := c.writer(&b)
	if err != nil {
		t.Fatal(err)
	}
	if w == nil {
		return []byte(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Exactness rule 12: a compressed file that is cut off anywhere, or has a
// byte changed, is an error, never an early end.
func TestRule12CompressedFileCutOffIsAnError(t *testing.T) {
	text, rows := numbered(60)
	for _, c := range []Compression{Gzip, Zstd} {
		whole := pack(t, c, text)
		name := filepath.Join(t.TempDir(), "a.txt"+c.Suffix())
		for n := range len(whole) {
			put(t, storage.Local{}, name, whole[:n])
			got, err := readOrError(t, name)
			if err == nil && n > 0 {
				t.Fatalf("%s: %d of %d bytes gave %d of %d rows and no error", c, n, len(whole), len(got), len(rows))
			}
		}
		put(t, storage.Local{}, name, append(bytes.Clone(whole), pack(t, c, "61|more\n")...))
		got, err := readOrError(t, name)
		if err != nil {
			t.Fatal(err)
		}
		equalRows(t, got, append(slices.Clone(rows), "61|more"))
	}
}

func readOrError(t *testing.T, name string) ([]string, error) {
	t.Helper()
	s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{name}})
	splits, err := tryEnumerate(t, s, connector.Want{})
	if err != nil {
		return nil, err
	}
	var rows []string
	for _, split := range splits {
		got, err := rowsOf(t.Context(), s, split, "")
		if rows = append(rows, got...); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// Exactness rule 12, and the words on splits: a file that is not the one its
// splits were made from is refused, before or while it is read.
func TestRule12ChangedFileIsRefused(t *testing.T) {
	text, _ := numbered(20000)
	dir := t.TempDir()
	name := filepath.Join(dir, "a.txt")
	changes := map[string]func() error{
		"longer":  func() error { return os.WriteFile(name, []byte(text+"x|y\n"), 0o600) },
		"shorter": func() error { return os.Truncate(name, int64(len(text)/2)) },
		"written": func() error { return os.WriteFile(name, []byte(text), 0o600) },
		"gone":    func() error { return os.Remove(name) },
	}
	for what, change := range changes {
		t.Run(what, func(t *testing.T) {
			put(t, storage.Local{}, name, []byte(text))
			s := newTestSource(t, storage.Local{}, lineFormat{header: true, rows: 100}, SourceOptions{Path: []string{name}})
			split := enumerate(t, s, connector.Want{})[0]
			schema, _ := s.Schema(t.Context())
			r, err := s.Open(t.Context(), split, "")
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Open(t.Context(), split, ""); err == nil {
				t.Error("opened")
			} else if what != "gone" && !strings.Contains(err.Error(), "--restart") {
				t.Errorf("no way out in %q", err)
			}
			if what == "gone" {
				return // what is open can be read to its end
			}
			var pool batch.Pool
			for {
				b := pool.Get(schema)
				err := r.Next(t.Context(), b)
				b.Release()
				if errors.Is(err, io.EOF) {
					t.Fatal("read to the end as if nothing had happened")
				}
				if err != nil {
					if connector.ClassOf(err) != connector.Permanent || !strings.Contains(err.Error(), name) {
						t.Errorf("%v: %v", connector.ClassOf(err), err)
					}
					break
				}
			}
		})
	}
}

func TestEncodings(t *testing.T) {
	text, rows := numbered(300)
	text += "300|Žluťoučký\n301|中文 😀\n302|\uFFFD\n"
	rows = append(slices.Clone(rows), "300|Žluťoučký", "301|中文 😀", "302|\uFFFD")
	gb, err := simplifiedchinese.GB18030.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	le, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	be, err := unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, encoding, data string }{
		{"utf-8 with mark", "utf-8", "\ufeff" + text},
		{"gb18030", "GB18030", gb},
		{"utf-16 with mark", "utf-16", le},
		{"utf-16be", "utf-16be", be},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "a.txt")
			put(t, storage.Local{}, name, []byte(c.data))
			s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{name}, Encoding: c.encoding})
			equalRows(t, readAllRows(t, s, connector.Want{}), rows)
		})
	}
}

func TestARecordWithBytesThatAreNoneOfTheEncodingIsDirty(t *testing.T) {
	long := strings.Repeat("1|abc\n", 30000)
	for _, c := range []struct {
		encoding, data string
		at             int
		bad            string
		good           int
	}{
		{"gbk", "id|n\n1|\xff\n2|b\n", 7, "ff", 1},
		{"gbk", "id|n\n1|\xd6\n2|b\n", 7, "d6", 1},
		{"gbk", "id|n\n" + long + "1|\xd6", 5 + len(long) + 2, "d6", 30000},
		{"gb18030", "id|n\n1|\x84\x31\xa4\x37\n2|\xff\n", 14, "ff", 1},
		{"utf-16le", "i\x00d\x00\n\x00\x00\xd8x\x00\n\x00", 6, "00 d8", 0},
		{"utf-16le", "i\x00d\x00\n\x00x", 6, "78", 0},
		{"windows-1252", "id|n\n1|\x81\n", 7, "81", 0},
	} {
		name := filepath.Join(t.TempDir(), "a.txt")
		put(t, storage.Local{}, name, []byte(c.data))
		s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{name}, Encoding: c.encoding})
		var dirty []string
		good := 0
		for _, row := range readAllRows(t, s, connector.Want{}) {
			if strings.HasPrefix(row, "dirty ") {
				dirty = append(dirty, row)
			} else {
				good++
			}
		}
		reason := fmt.Sprintf("the bytes %s at byte %d are not valid %s", c.bad, c.at, c.encoding)
		if good != c.good || len(dirty) != 1 || !strings.Contains(dirty[0], name) || !strings.HasSuffix(dirty[0], reason) {
			t.Errorf("%s %.40q: %d good, dirty %.200q; want %d and %q", c.encoding, c.data, good, dirty, c.good, reason)
		}
	}
}

func TestInvalidUTF8IsADirtyRecord(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.txt")
	put(t, storage.Local{}, name, []byte("id|n\n1|a\n2|b\xffc\n3|é\n"))
	s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{name}})
	equalRows(t, readAllRows(t, s, connector.Want{}), []string{
		"1|a", "3|é",
		"dirty " + name + ": line 3: byte 12 of the text is not valid UTF-8: is the file in another encoding?",
	})
}

func TestAnotherEncodingsMarkIsPointedOut(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.txt")
	put(t, storage.Local{}, name, []byte("\xff\xfei\x00d\x00"))
	s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{name}})
	_, err := s.Schema(t.Context())
	if connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), "encoding: utf-16") {
		t.Errorf("got %v", err)
	}
}

func TestFilesOfOneSourceHaveTheSameColumns(t *testing.T) {
	dir := t.TempDir()
	put(t, storage.Local{}, filepath.Join(dir, "a.txt"), nil) // holds nothing, and no columns
	put(t, storage.Local{}, filepath.Join(dir, "b.txt"), []byte("id|name\n1|x\n"))
	put(t, storage.Local{}, filepath.Join(dir, "c.txt.gz"), pack(t, Gzip, "id|name\n2|y\n"))
	put(t, storage.Local{}, filepath.Join(dir, "d.csv"), []byte("other"))
	s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{dir}})
	equalRows(t, readAllRows(t, s, connector.Want{}), []string{"1|x", "2|y"})

	put(t, storage.Local{}, filepath.Join(dir, "e.txt"), []byte("name|id\nx|1\n"))
	s = newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{dir}})
	if _, err := tryEnumerate(t, s, connector.Want{}); err == nil || !strings.Contains(err.Error(), "e.txt") {
		t.Errorf("other columns: %v", err)
	}
}

func TestPathsThatNameNothingAreUsageErrors(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "none.txt"), filepath.Join(dir, "*.txt"), dir, "/dev/null"} {
		s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{path}})
		if _, err := s.Schema(t.Context()); connector.ClassOf(err) != connector.Usage || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := NewSource(SourceConfig{Format: lineFormat{}, Options: SourceOptions{Path: []string{"a"}, Encoding: "klingon"}}); connector.ClassOf(err) != connector.Usage {
		t.Errorf("encoding: %v", err)
	}
}

func TestARecordLargerThanABatchTravelsAlone(t *testing.T) {
	big := strings.Repeat("x", 5*batch.MaxBytes)
	name := filepath.Join(t.TempDir(), "a.txt")
	put(t, storage.Local{}, name, []byte("id|n\n1|a\n2|"+big+"\n3|c\n"))
	s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{name}})
	equalRows(t, readAllRows(t, s, connector.Want{}), []string{"1|a", "2|" + big, "3|c"})
}

func TestManyFilesAreEnumeratedInSteps(t *testing.T) {
	dir := t.TempDir()
	var want []string
	for i := range stepSplits + 5 {
		put(t, storage.Local{}, filepath.Join(dir, fmt.Sprintf("%04d.txt", i)), fmt.Appendf(nil, "id\n%d\n", i))
		want = append(want, fmt.Sprint(i))
	}
	s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{dir}})
	e, err := s.Enumerate(t.Context(), "", 0, connector.Want{})
	if err != nil || e.Done || len(e.Splits) != stepSplits {
		t.Fatalf("first step: %d splits, done %v, %v", len(e.Splits), e.Done, err)
	}
	equalRows(t, readAllRows(t, s, connector.Want{}), want)
}
