package csv

import (
	"strings"
	"testing"
)

// What people have run into with other tools, each with what is right.
func TestKnownCases(t *testing.T) {
	for _, c := range []struct {
		name    string
		options map[string]any
		text    string
		rows    []rec
		rejects []string // "line: reason"
	}{
		{
			name: "NULL and the empty text differ",
			text: "a,b\n,\"\"\n", rows: []rec{row(nil, "")},
		},
		{
			name:    "NULL and the empty text differ with a null token",
			options: map[string]any{"null_token": `\N`},
			text:    "a,b,c,d\n\\N,\"\",,\"\\N\"\n", rows: []rec{row(nil, "", "", `\N`)},
		},
		{
			name: "an empty date is NULL",
			text: "day,n\n,1\n", options: map[string]any{"types": map[string]any{"day": "date"}},
			rows: []rec{row(nil, "1")},
		},
		{
			name: "an empty number is NULL and never 0",
			text: "n,b\n,1\n\"\",2\n", options: map[string]any{"types": map[string]any{"n": "int32"}},
			rows: []rec{row(nil, "1")}, rejects: []string{`line 3: "": not a whole number`},
		},
		{
			name: "a newline within quotes",
			text: "a,b\n1,\"x\ny\"\n", rows: []rec{row("1", "x\ny")},
		},
		{
			name: "a CRLF within quotes stays as it is",
			text: "a,b\r\n1,\"x\r\ny\"\r\n", rows: []rec{row("1", "x\r\ny")},
		},
		{
			name: "another quote", options: map[string]any{"quote": "'"},
			text: "a,b\n'a,b',\"\n", rows: []rec{row("a,b", `"`)},
		},
		{
			name: "no quote", options: map[string]any{"quote": "none"},
			text: "a,b\n\"x,y\"\n", rows: []rec{row(`"x`, `y"`)},
		},
		{
			name: "a doubled quote", text: "a,b\n\"a\"\"b\",1\n", rows: []rec{row(`a"b`, "1")},
		},
		{
			name: "a quote behind a backslash", options: map[string]any{"escape": "backslash"},
			text: "a,b\n\"a\\\"b\",1\n", rows: []rec{row(`a"b`, "1")},
		},
		{
			name: "a path that ends in backslashes",
			text: "a,b\n\"C:\\dir\\\\\",1\n", rows: []rec{row(`C:\dir\\`, "1")},
		},
		{
			name: "a path that ends in an escaped backslash", options: map[string]any{"escape": "backslash"},
			text: "a,b\n\"C:\\dir\\\\\",1\n", rows: []rec{row(`C:\dir\`, "1")},
		},
		{
			name: "too few fields", text: "a,b,c,d\n1,2,3,4\n1,2,3\n5,6,7,8\n",
			rows: []rec{row("1", "2", "3", "4"), row("5", "6", "7", "8")}, rejects: []string{"line 3: 3 fields where 4 are expected"},
		},
		{
			name: "too many fields", text: "a,b\n1,2,3\n4,5\n",
			rows: []rec{row("4", "5")}, rejects: []string{"line 2: 3 fields where 2 are expected"},
		},
		{
			name: "the line of a dirty record counts line ends within quotes",
			text: "a,b\n\"1\n\n\",2\nx\n", rows: []rec{row("1\n\n", "2")}, rejects: []string{"line 5: 1 field where 2 are expected"},
		},
		{
			name: "text beyond ASCII", text: "a,b\nŽluťoučký,😀𠀀\n", rows: []rec{row("Žluťoučký", "😀𠀀")},
		},
		{
			name: "bytes that are not UTF-8 are not changed in silence",
			text: "a,b\n1,\xff\n2,x\n", rows: []rec{row("2", "x")},
			rejects: []string{"line 2: byte 6 of the text is not valid UTF-8: is the file in another encoding?"},
		},
		{
			name:    `\N is NULL`,
			options: map[string]any{"null_token": `\N`, "delimiter": "tab"},
			text:    "a\tb\n\\N\tx\n", rows: []rec{row(nil, "x")},
		},
		{
			name: "a blank last field", text: "a,b,c\n1,2,\n", rows: []rec{row("1", "2", nil)},
		},
		{
			name: "a blank last field at the end of the file", text: "a,b,c\n1,2,", rows: []rec{row("1", "2", nil)},
		},
		{name: "no final line end", text: "h\na\nb", rows: []rec{row("a"), row("b")}},
		{name: "a final line end", text: "h\na\nb\n", rows: []rec{row("a"), row("b")}},
		{name: "no final CRLF", text: "h\r\na\r\nb", rows: []rec{row("a"), row("b")}},
		{name: "a final CRLF", text: "h\r\na\r\nb\r\n", rows: []rec{row("a"), row("b")}},
		{name: "bare CR", text: "h\ra\rb", rows: []rec{row("a"), row("b")}},
		{name: "LF and CRLF in one file", text: "h\na\r\nb\n", rows: []rec{row("a"), row("b")}},
		{
			name: "line ends that are told keep all others", options: map[string]any{"line_end": "lf"},
			text: "h\na\r\nb\rc\n", rows: []rec{row("a\r"), row("b\rc")},
		},
		{
			name: "CRLF that is told keeps single ones", options: map[string]any{"line_end": "crlf"},
			text: "h\r\na\nb\rc\r\n", rows: []rec{row("a\nb\rc")},
		},
		{
			name: "a header with a newline", text: "\"a\nb\",c\n1,2\nx\n",
			rows: []rec{row("1", "2")}, rejects: []string{"line 4: 1 field where 2 are expected"},
		},
		{
			name: "an empty line of one column is NULL", text: "h\n\na\n\n", rows: []rec{row(nil), row("a"), row(nil)},
		},
		{
			name: "an empty line of more columns is dirty", text: "a,b\n1,2\n\n3,4\n",
			rows: []rec{row("1", "2"), row("3", "4")}, rejects: []string{"line 3: an empty line where 2 fields are expected"},
		},
		{
			name: "a quote in the middle is a byte like others",
			text: "a,b\n5\" disk,say \"hi\"\n", rows: []rec{row(`5" disk`, `say "hi"`)},
		},
		{
			name: "text after a closing quote", text: "a,b\n\"x\"y,1\n2,3\n",
			rows: []rec{row("2", "3")}, rejects: []string{"line 2: text after the closing quote"},
		},
		{
			name: "a quote that is never closed", text: "a,b\n1,2\n3,\n4\n5,\"open\n6,7\n",
			rows: []rec{row("1", "2"), row("3", nil)},
			rejects: []string{
				"line 4: 1 field where 2 are expected", "line 5: the quote that opens in line 5 is never closed",
			},
		},
		{
			name: "a byte order mark", text: "\xef\xbb\xbf\"a\",b\n1,2\n", rows: []rec{row("1", "2")},
		},
		{
			name: `a line of \. is data`, text: "h\n\\.\nx\n", rows: []rec{row(`\.`), row("x")},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := mustRead(t, c.options, c.text)
			compare(t, "rows", res.rows, c.rows)
			var rejects []string
			for _, r := range res.rejects {
				_, line, _ := strings.Cut(r.Where, ".csv: ")
				rejects = append(rejects, line+": "+r.Reason)
			}
			if strings.Join(rejects, "\n") != strings.Join(c.rejects, "\n") {
				t.Errorf("rejects:\n got %q\nwant %q", rejects, c.rejects)
			}
			if got := res.schema.Fields[0].Name; strings.HasPrefix(got, "\ufeff") {
				t.Errorf("the first column is named %q", got)
			}
		})
	}
}

// A record may be larger than any chunk that is read at once.
func TestAHugeRecordPassesAlone(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 5<<20/16)
	res := mustRead(t, nil, "a,b\n1,2\n3,\""+long+"\"\n5,6\n")
	compare(t, "rows", res.rows, []rec{row("1", "2"), row("3", long), row("5", "6")})
}

// A quote left open makes the rest one dirty record, and says where it began.
func TestARecordThatNeverEndsNamesItsLine(t *testing.T) {
	res := mustRead(t, map[string]any{"split_size": "1KiB"}, "a,b\n"+strings.Repeat("1,2\n", 2000)+"1,\"open\n"+strings.Repeat("3,4\n", 100_000))
	if len(res.rows) != 2000 || len(res.rejects) != 1 {
		t.Fatalf("%d rows and %d rejects", len(res.rows), len(res.rejects))
	}
	if want := "the quote that opens in line 2002 is never closed"; res.rejects[0].Reason != want {
		t.Errorf("got %q, want %q", res.rejects[0].Reason, want)
	}
}
