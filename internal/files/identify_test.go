package files

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/internal/storage"
)

// A job that would read what it writes shares a place with itself, by whatever
// way its paths go; one that would do so the next time, perhaps.
func TestSourceAndSinkTellTheirPlaces(t *testing.T) {
	const surely, perhaps, no = "surely", "perhaps", "no"
	dir := t.TempDir()
	for _, name := range []string{"sd/part-00001.txt", "sd/b.txt.gz", "other/a.txt", "plain/data"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		put(t, storage.Local{}, path, []byte("id\n1\n"))
	}
	for link, to := range map[string]string{"link": "sd", "a-link.txt": "sd/part-00001.txt"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct{ from, to, want string }{
		{"sd/", "sd/", surely},
		{"sd", dir + "/link/", surely},
		{"link/", "sd/", surely},
		{"sd/part-00001.txt", "sd/", surely},
		{"sd/*.gz", "sd/", surely},
		{"a-link.txt", "sd/", surely},
		{"a-link.txt", "./sd/../sd/part-00001.txt", surely},
		{"other/a.txt", "other/a.txt", surely},
		{"other/*.txt", "other/a.txt", surely},
		{"other/*.txt", "other/c.txt", perhaps},
		{"link/", "sd/c.txt.zst", perhaps},
		{"other/a*.txt", "other/c.txt", no},
		{"other/*.txt", "other/c.out", no},
		{"other/a.txt", "other/c.txt", no},
		{"sd/", "other/", no},
		{"sd/", "new/deep/c.txt", no},
		{"plain/data", "plain/", no}, // no file of the format
		{"-", "sd/", no},
		{"sd/", "-", no},
	} {
		s := newTestSource(t, storage.Local{}, lineFormat{header: true}, SourceOptions{Path: []string{c.from}})
		snk, err := NewSink(SinkConfig{FS: storage.Local{}, Format: lineFormat{}, Options: SinkOptions{Path: c.to}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := snk.Resolve(t.Context(), &batch.Schema{Fields: []batch.Field{{Name: "id"}}}); err != nil {
			t.Fatal(err)
		}
		from, err := s.Identify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		to, err := snk.Identify(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := no
		if sure, may := from.Meets(to); sure {
			got = surely
		} else if may {
			got = perhaps
		}
		if got != c.want {
			t.Errorf("%s to %s: the same place %s, want %s (%q, %q)", c.from, c.to, got, c.want, from, to)
		}
	}
}
