package jsonl

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// scanLine reads a whole line as one value.
func scanLine(line []byte) (value, string) {
	s := scanner{data: line}
	s.space()
	var v value
	if !s.value(&v, 0) {
		return v, s.fault
	}
	s.space()
	if s.pos < len(line) {
		return v, "more follows"
	}
	return v, ""
}

func corpus() []string {
	return []string{
		`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `-1.5e+10`, `1E5`, `01`, `1.`, `.5`, `+1`, `1e`, `--1`, `1e+`, `-`,
		`"a"`, `"a\"b\\c\/\b\f\n\r\t"`, `"\u00e9\ud83d\ude00"`, `"\ud83d"`, `"\ude00"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\u12"`, `"\x"`,
		"\"a\tb\"", "\"a\x00\"", `"abcdefgh`, `"abcdefg\`, `{"a":1,"b":[1,2,{"c":null}]}`, `{"a" : 1 , "b" : [ ] }`, `{"a":1,}`, `[1,]`,
		`{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `[1 2]`, `[1}`, `{"a":1]`, `tru`, `nul`, `truex`, `nan`, `Infinity`, ` {"a":1} `, `{"a":1} x`, ``, ` `,
		`"日本語"`, "\"\u2028\"", strings.Repeat("[", 600) + strings.Repeat("]", 600), strings.Repeat("[", 500) + strings.Repeat("]", 500),
		`"` + strings.Repeat("x", 100) + `"`, `"` + strings.Repeat("x", 101) + `\n"`, `"12345678"`, `"1234567"`, `"123456789"`, "\"é\u00c0\"",
	}
}

// agree compares the scanner with encoding/json.
func agree(t *testing.T, line []byte) {
	t.Helper()
	if !utf8.Valid(line) {
		return // who reads the files has refused it
	}
	v, fault := scanLine(line)
	valid := json.Valid(line)
	switch {
	case fault == "half of a surrogate pair stands alone", fault == "is nested deeper than 512 levels":
		return // stricter, and documented
	case valid != (fault == ""):
		t.Fatalf("%q: valid %v, and the scanner says %q", line, valid, fault)
	case !valid || v.kind != isString:
		return
	}
	var want string
	if err := json.Unmarshal(line, &want); err != nil {
		t.Fatal(err)
	}
	text := bytes.Clone(line[v.start:v.end])
	if v.escaped {
		text = text[:unescape(text)]
	}
	if string(text) != want {
		t.Fatalf("%q is %q, want %q", line, text, want)
	}
}

func TestScannerAgreesWithTheStandardLibrary(t *testing.T) {
	for _, line := range corpus() {
		agree(t, []byte(line))
	}
}

func FuzzScan(f *testing.F) {
	for _, line := range corpus() {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) { agree(t, line) })
}

func TestHalfASurrogatePairIsAFault(t *testing.T) {
	for _, line := range []string{`"\ud83d"`, `"\ude00"`, `"\ud83dx"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`, `"\ud83d\`} {
		if _, fault := scanLine([]byte(line)); fault == "" {
			t.Errorf("%s was taken", line)
		}
	}
}
