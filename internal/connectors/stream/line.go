package stream

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"github.com/leatdata/leat/batch"
)

// appendLine adds record i as name=value pairs and a line end. NULL is bare;
// a text that could be mistaken for anything else is in quotes, as Go has
// them; bytes are hexadecimal after \x.
func appendLine(dst []byte, b *batch.Batch, i int) []byte {
	for c := range b.Columns {
		if c > 0 {
			dst = append(dst, ' ')
		}
		f := &b.Schema.Fields[c]
		dst = appendWord(dst, []byte(f.Name))
		dst = append(dst, '=')
		cell := b.Columns[c].Cell(i)
		switch {
		case cell == nil:
			dst = append(dst, "NULL"...)
		case f.Type.Kind == batch.Bytes:
			dst = append(dst, `\x`...)
			dst = hex.AppendEncode(dst, cell)
		default:
			dst = appendWord(dst, cell)
		}
	}
	return append(dst, '\n')
}

// appendWord adds a text, in quotes unless it is one plain word.
func appendWord(dst, text []byte) []byte {
	plain := len(text) > 0 && !bytes.EqualFold(text, []byte("NULL"))
	for _, c := range text {
		if c <= ' ' || c == '"' || c == '=' || c == '\\' || c >= 0x7f {
			plain = false
			break
		}
	}
	if plain {
		return append(dst, text...)
	}
	return strconv.AppendQuote(dst, string(text))
}
