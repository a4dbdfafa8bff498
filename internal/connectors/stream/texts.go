package stream

import (
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

const (
	hexDigits = "0123456789abcdef"
	// alphabet has what text formats stumble over among what they do not.
	alphabet = "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJ 0123456789 ,;\"'\\\t\n|%é中😀"
	// maxText is the most characters of a text and bytes of a blob.
	maxText = 24
)

// appendText makes a text of at most the type's length, one in 32 empty.
func appendText(dst []byte, r *random, t *batch.Type) []byte {
	n := r.below(maxText)
	if t.Length > 0 {
		n = r.below(uint64(min(t.Length, maxText)) + 1)
	}
	if t.Length > 0 && t.Fixed {
		n = uint64(t.Length)
	} else if r.below(32) == 0 {
		n = 0
	}
	for range n {
		i := int(r.below(uint64(len(alphabet))))
		for !utf8.RuneStart(alphabet[i]) {
			i--
		}
		_, size := utf8.DecodeRuneInString(alphabet[i:])
		dst = append(dst, alphabet[i:i+size]...)
	}
	return dst
}

func appendBytes(dst []byte, r *random, t *batch.Type) []byte {
	n := r.below(maxText)
	if t.Length > 0 {
		n = r.below(uint64(min(t.Length, maxText)) + 1)
		if t.Fixed {
			n = uint64(t.Length)
		}
	}
	for range n {
		dst = append(dst, byte(r.next()))
	}
	return dst
}

// appendUUID makes a random (version 4) uuid.
func appendUUID(dst []byte, r *random, _ *batch.Type) []byte {
	hi, lo := r.next(), r.next()
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			dst = append(dst, '-')
		}
		word := hi
		if i >= 16 {
			word = lo
		}
		dst = append(dst, hexDigits[word>>(60-4*(i%16))&0xf])
	}
	return dst
}

func appendJSON(dst []byte, r *random, _ *batch.Type) []byte {
	dst = append(dst, `{"n": `...)
	dst = appendInt(dst, r, &batch.Type{Kind: batch.Int32})
	dst = append(dst, `, "ok": `...)
	dst = appendBool(dst, r, nil)
	dst = append(dst, `, "tags": ["`...)
	dst = appendDigits(dst, r, 3)
	return append(dst, `", "é", null]}`...)
}

func appendBits(dst []byte, r *random, t *batch.Type) []byte {
	n := t.Length
	if n == 0 {
		n = 1 + int(r.below(16))
	}
	for range n {
		dst = append(dst, '0'+byte(r.next()&1))
	}
	return dst
}

// appendArray makes an array of up to four elements, quoted as PostgreSQL's
// array_out quotes them.
func appendArray(dst []byte, r *random, t *batch.Type) []byte {
	maker := makerOf(t.Elem.Kind)
	n := int(r.below(5))
	if t.Elem.Kind == batch.Array && n == 0 {
		n = 1
	}
	dst = append(dst, '{')
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch {
		case t.Elem.Kind == batch.Array:
			// Inner arrays have to be of one length: one element each.
			dst = append(dst, "{NULL}"...)
		case r.below(8) == 0:
			dst = append(dst, "NULL"...)
		default:
			start := len(dst)
			dst = maker(dst, r, t.Elem)
			end := len(dst)
			dst = value.AppendArrayElement(dst, dst[start:end])
			dst = append(dst[:start], dst[end:]...)
		}
	}
	return append(dst, '}')
}
