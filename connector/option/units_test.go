package option

import (
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{
		"512": 512, "0": 0, "1k": 1000, "1K": 1000, "1kB": 1000, "1Ki": 1024, "20MiB": 20 << 20, "20 mib": 20 << 20,
		"64MB": 64e6, "1.5GiB": 3 << 29, "2T": 2e12, "7b": 7, "9223372036854775807": 1<<63 - 1, "0.5k": 500,
	} {
		got, err := ParseSize(text)
		if err != nil || got != want {
			t.Errorf("%q: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "1 apple", "1.2.3", "1ib", "1kk", "9223372036854775808", "1e3", "9000000PiB", "1/2", "."} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q is taken as %d", text, got)
		}
	}
}

func TestSizeString(t *testing.T) {
	for size, want := range map[Size]string{0: "0", 512: "512", 1000: "1kB", 1024: "1KiB", 128 << 20: "128MiB", 1 << 40: "1TiB", 1001: "1001", 64e6: "64MB"} {
		if got := size.String(); got != want {
			t.Errorf("%d: got %s, want %s", int64(size), got, want)
		}
		if back, err := ParseSize(size.String()); err != nil || back != size {
			t.Errorf("%s reads back as %d, %v", size, back, err)
		}
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"1k", "20MiB", "1.5 G", "-3", "9e9", "18446744073709551616"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseSize(text)
		if err != nil {
			return
		}
		if n < 0 {
			t.Fatalf("%q is %d", text, n)
		}
		if back, err := ParseSize(n.String()); err != nil || back != n {
			t.Fatalf("%q: %s reads back as %d, %v", text, n, back, err)
		}
	})
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"10s": 10 * time.Second, "5m": 5 * time.Minute, "1h30m": 90 * time.Minute, " 500ms ": 500 * time.Millisecond, "0": 0, "1m 5s": 65 * time.Second,
	} {
		got, err := ParseDuration(text)
		if err != nil || got.Std() != want {
			t.Errorf("%q: got %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "10", "-1s", "5 minutes", "1d"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q is taken as %s", text, got)
		}
	}
	for d, want := range map[time.Duration]string{5 * time.Minute: "5m", time.Hour: "1h", 10 * time.Second: "10s", 90 * time.Minute: "1h30m", 0: "0s", 90 * time.Second: "1m30s"} {
		if got := Duration(d).String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
