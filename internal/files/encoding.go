package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/leatdata/leat/connector"
)

// utf8Name and utf16Name are encodings that have no table: the first needs
// none, the second is one of two by its byte order mark.
const (
	utf8Name  = "utf-8"
	utf16Name = "utf-16"
)

// The byte order marks.
const (
	bomUTF8    = "\xef\xbb\xbf"
	bomUTF16LE = "\xff\xfe"
	bomUTF16BE = "\xfe\xff"
)

// encodings returns the encodings by name that keep no state between
// characters, as finding an invalid one asks for.
func encodings() map[string]encoding.Encoding {
	return map[string]encoding.Encoding{
		"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		"gbk":          simplifiedchinese.GBK,
		"gb18030":      simplifiedchinese.GB18030,
		"big5":         traditionalchinese.Big5,
		"shift_jis":    japanese.ShiftJIS,
		"euc-jp":       japanese.EUCJP,
		"euc-kr":       korean.EUCKR,
		"latin1":       charmap.ISO8859_1,
		"iso-8859-1":   charmap.ISO8859_1,
		"iso-8859-2":   charmap.ISO8859_2,
		"iso-8859-15":  charmap.ISO8859_15,
		"windows-1250": charmap.Windows1250,
		"windows-1251": charmap.Windows1251,
		"windows-1252": charmap.Windows1252,
	}
}

// encodingName returns the known name of an encoding as people write it.
func encodingName(name string) (string, error) {
	lower := strings.ToLower(name)
	switch lower {
	case "", "utf8", utf8Name:
		return utf8Name, nil
	case "utf16", utf16Name:
		return utf16Name, nil
	}
	known := encodings()
	if _, ok := known[lower]; ok {
		return lower, nil
	}
	names := append(slices.Sorted(maps.Keys(known)), utf16Name, utf8Name)
	slices.Sort(names)
	return "", connector.Errorf(connector.Usage, "encoding %q is not known: known are %s", name, strings.Join(names, ", "))
}

// transcode returns r's text in UTF-8. Bytes that are none of the encoding
// become a mark, see mark.go. name is the file, for messages.
func transcode(r io.Reader, name, encodingName string) (io.Reader, error) {
	t := &transcoder{src: r, file: name, name: encodingName, in: make([]byte, 64<<10)}
	if encodingName == utf16Name {
		var err error
		if t.name, err = t.byteOrder(); err != nil {
			return nil, err
		}
	}
	enc := encodings()[t.name]
	t.decoder = enc.NewDecoder()
	// A character that the encoding has for U+FFFD is no fault.
	if own, err := enc.NewEncoder().Bytes([]byte("\uFFFD")); err == nil {
		t.replacement = own
	}
	return t, nil
}

// transcoder is an io.Reader of UTF-8 made from another encoding.
type transcoder struct {
	src         io.Reader
	file, name  string
	decoder     *encoding.Decoder
	replacement []byte

	in         []byte
	start, end int
	offset     int64 // of in[start] in the source
	err        error // of src, held until its bytes are used up

	marked []byte // text with marks, which comes before that of in
}

// byteOrder takes the byte order mark and says which encoding it stands for.
func (t *transcoder) byteOrder() (string, error) {
	for t.end < 2 && t.err == nil {
		t.fill()
	}
	head := string(t.in[:min(t.end, 2)])
	switch {
	case t.err != nil && !t.ended():
		return "", t.err
	case t.end == 0:
		return "utf-16le", nil
	case head == bomUTF16LE:
		t.start, t.offset = 2, 2
		return "utf-16le", nil
	case head == bomUTF16BE:
		t.start, t.offset = 2, 2
		return "utf-16be", nil
	}
	return "", connector.Errorf(connector.Usage,
		"%s has no byte order mark: set encoding to utf-16le or utf-16be", t.file)
}

func (t *transcoder) ended() bool { return errors.Is(t.err, io.EOF) }

func (t *transcoder) fill() {
	if t.start > 0 {
		t.end = copy(t.in, t.in[t.start:t.end])
		t.start = 0
	}
	n, err := t.src.Read(t.in[t.end:])
	t.end += n
	t.err = err
}

// Read implements io.Reader; p must have room for a character.
func (t *transcoder) Read(p []byte) (int, error) {
	for {
		if len(t.marked) > 0 {
			n := copy(p, t.marked)
			t.marked = t.marked[n:]
			return n, nil
		}
		if t.start < t.end || t.ended() {
			n, err := t.transform(p)
			switch {
			case n > 0:
				return n, nil
			case err != nil:
				return 0, err
			case len(t.marked) > 0:
				continue
			case t.ended():
				return 0, io.EOF
			}
		}
		if t.err != nil {
			return 0, t.err
		}
		t.fill()
	}
}

// transform decodes into p, or into marked where there are invalid bytes. It
// does neither when what is there is not a whole character.
func (t *transcoder) transform(p []byte) (int, error) {
	nDst, nSrc, err := t.decoder.Transform(p, t.in[t.start:t.end], t.ended())
	src := t.in[t.start : t.start+nSrc]
	t.start += nSrc
	if bytes.Contains(p[:nDst], []byte("\uFFFD")) && t.mark(src) {
		nDst = 0
	}
	t.offset += int64(nSrc)
	switch {
	case nDst > 0 || len(t.marked) > 0:
		return nDst, nil
	case err != nil && !errors.Is(err, transform.ErrShortSrc):
		return 0, fmt.Errorf("%s at byte %d: %w", t.file, t.offset, err)
	case t.ended() && t.start < t.end: // the end has cut a character
		t.marked = appendMark(nil, t.offset, t.in[t.start:t.end])
		t.offset += int64(t.end - t.start)
		t.start = t.end
	}
	return 0, nil
}

// mark decodes src, which begins at offset, into marked, and reports whether
// there are invalid bytes in it.
func (t *transcoder) mark(src []byte) bool {
	found := false
	var text []byte
	for at := 0; at < len(src); {
		out, n := t.one(src[at:])
		char := src[at : at+n]
		if out == "\uFFFD" && !bytes.Equal(char, t.replacement) {
			text = appendMark(text, t.offset+int64(at), char)
			found = true
		} else {
			text = append(text, out...)
		}
		at += n
	}
	if found {
		t.marked = text
	}
	return found
}

// one decodes the first character of src and returns its length there.
func (t *transcoder) one(src []byte) (string, int) {
	var out [4]byte
	for size := 1; size <= len(src); size++ {
		// U+FFFD has three bytes: with no more room, nothing can follow it.
		for room := 3; room <= 4; room++ {
			nDst, n, _ := t.decoder.Transform(out[:room], src[:size], size == len(src))
			if n > 0 {
				return string(out[:nDst]), n
			}
		}
	}
	return "", 1
}
