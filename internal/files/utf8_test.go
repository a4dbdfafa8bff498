package files

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// Every text of up to four bytes from both sides of each bound, at each place
// of what is followed in blocks and halves.
func TestValidIsWhatTheStandardLibrarySays(t *testing.T) {
	bounds := []byte{0, 'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xff}
	v := newValidator()
	n := 0
	check := func(p []byte) {
		if n++; v.valid(p) != utf8.Valid(p) {
			t.Fatalf("% x: %v", p, v.valid(p))
		}
	}
	frame := bytes.Repeat([]byte{'x'}, 100)
	for _, a := range bounds {
		for _, b := range bounds {
			for _, c := range bounds {
				for _, d := range bounds {
					text := []byte{a, b, c, d}
					check(text)
					check(text[:3])
					check(text[:2])
					at := n % 97
					copy(frame[at:], text)
					check(frame)
					copy(frame[at:], "xxxx")
				}
			}
		}
	}
	check(nil)
}

func FuzzValid(f *testing.F) {
	f.Add([]byte("Žluťoučký 中文 😀 and ASCII enough to make blocks of it"))
	f.Add([]byte(strings.Repeat("é", 40) + "\xc3"))
	v := newValidator()
	f.Fuzz(func(t *testing.T, p []byte) {
		if v.valid(p) != utf8.Valid(p) {
			t.Errorf("% x: %v", p, v.valid(p))
		}
	})
}

func BenchmarkValid(b *testing.B) {
	v := newValidator()
	for name, text := range map[string]string{
		"ascii": strings.Repeat("furiously even deposits sleep ", 1<<15),
		"mixed": strings.Repeat("lorem ipsum, Žluťoučký 中文 amet \n", 1<<15),
	} {
		for by, valid := range map[string]func([]byte) bool{"leat": v.valid, "std": utf8.Valid} {
			b.Run(name+"/"+by, func(b *testing.B) {
				p := []byte(text)
				b.SetBytes(int64(len(p)))
				for b.Loop() {
					if !valid(p) {
						b.Fatal("not valid")
					}
				}
			})
		}
	}
}
