package dataset

import (
	"fmt"
	"strconv"
)

// Wide is a table of 13 columns with long texts that hold quotes, line breaks,
// and letters of many scripts, with NULL and ” beside each other; about 525
// bytes a row.
func Wide() Table {
	return Table{
		Name:  "wide",
		About: "13 columns, long texts with quotes, line breaks and many scripts, NULL beside ''",
		Columns: []Column{
			{"id", "int8"},
			{"uid", "uuid"},
			{"name", "text"},
			{"email", "text"},
			{"city", "text"},
			{"title", "text"},
			{"body", "text"},
			{"note", "text"},
			{"score", "float8"},
			{"price", "numeric(12,4)"},
			{"active", "boolean"},
			{"born", "date"},
			{"seen", "timestamptz"},
		},
		seed: 2,
		row:  wide,
	}
}

func wide(dst []byte, r *random, id int) []byte {
	text := func(b []byte) { dst = append(appendQuoted(dst, b), ',') }
	var scratch [1024]byte
	dst = append(strconv.AppendInt(dst, int64(id), 10), ',')
	dst = append(appendUUID(dst, r.pcg.Uint64(), r.pcg.Uint64()), ',')
	dst = append(r.words(dst, plainWords, 12), ',')
	dst = fmt.Appendf(dst, "%s.%d@example.org,", r.pick(plainWords), id)
	text([]byte(r.pick(cities)))
	text(r.words(scratch[:0], mixedWords, 30))
	text(r.words(scratch[:0], mixedWords, r.between(150, 430)))
	switch r.below(3) {
	case 0: // NULL
	case 1:
		dst = append(dst, `""`...)
	default:
		dst = r.words(dst, plainWords, 20)
	}
	dst = append(dst, ',')
	if !r.oneIn(8) {
		dst = strconv.AppendFloat(dst, float64(r.below(1<<30))/1024, 'g', -1, 64)
	}
	dst = append(dst, ',')
	if !r.oneIn(8) {
		dst = appendCents(dst, r.below(1_000_000_00))
		dst = append(dst, byte('0'+r.below(10)), byte('0'+r.below(10)))
	}
	dst = append(dst, ',')
	switch r.below(9) {
	case 0: // NULL
	case 1, 2, 3, 4:
		dst = append(dst, 't')
	default:
		dst = append(dst, 'f')
	}
	dst = append(dst, ',')
	if !r.oneIn(8) {
		dst = appendDate(dst, r.between(-10_000, 15_000))
	}
	dst = append(dst, ',')
	dst = appendTimestamp(dst, 1_500_000_000_000_000+int64(r.below(1<<31))*100_000)
	return append(dst, "+00\n"...)
}

func appendUUID(dst []byte, high, low uint64) []byte {
	const digits = "0123456789abcdef"
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			dst = append(dst, '-')
		}
		word := high
		if i >= 16 {
			word = low
		}
		dst = append(dst, digits[word>>(60-i%16*4)&15])
	}
	return dst
}
