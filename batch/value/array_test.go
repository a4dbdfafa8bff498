package value_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/batch/value"
)

// walk writes down what the iterator finds.
func walk(in string) (string, error) {
	var a value.Array
	if err := a.Reset([]byte(in)); err != nil {
		return "", err
	}
	var out strings.Builder
	for {
		token, err := a.Next()
		if err != nil {
			return "", err
		}
		switch token {
		case value.ArrayEnd:
			return out.String(), nil
		case value.ArrayOpen:
			out.WriteByte('<')
		case value.ArrayClose:
			out.WriteByte('>')
		case value.ArrayElement:
			if a.Element() == nil {
				out.WriteString("∅;")
			} else {
				fmt.Fprintf(&out, "%s;", a.Element())
			}
		}
	}
}

func TestArrayIterates(t *testing.T) {
	for _, c := range []textCase{
		{`{}`, "<>", nil},
		{` { } `, "<>", nil},
		{`{1,2,3}`, "<1;2;3;>", nil},
		{`{1,NULL,null,"NULL",""}`, "<1;∅;∅;NULL;;>", nil},
		{`{ a b , "c d" }`, "<a b;c d;>", nil},
		{`{"a\"b","\\","x,y","{z}"}`, `<a"b;\;x,y;{z};>`, nil},
		{`{a\,b,\NULL,end\ }`, `<a,b;NULL;end ;>`, nil},
		{`{{1,2},{3,4}}`, "<<1;2;><3;4;>>", nil},
		{`[0:1]={1,2}`, "<1;2;>", nil},
		{`[0:1][-1:0] = {{1,2},{3,4}}`, "<<1;2;><3;4;>>", nil},
		{"{\"line\nbreak\",é}", "<line\nbreak;é;>", nil},
		{``, "", value.ErrSyntax},
		{`1,2`, "", value.ErrSyntax},
		{`{`, "", value.ErrSyntax},
		{`{1`, "", value.ErrSyntax},
		{`{1,}`, "", value.ErrSyntax},
		{`{,1}`, "", value.ErrSyntax},
		{`{1,,2}`, "", value.ErrSyntax},
		{`{1}}`, "", value.ErrSyntax},
		{`{1}x`, "", value.ErrSyntax},
		{`{"a"b}`, "", value.ErrSyntax},
		{`{a"b"}`, "", value.ErrSyntax},
		{`{"a}`, "", value.ErrSyntax},
		{`{"a\`, "", value.ErrSyntax},
		{`{a\`, "", value.ErrSyntax},
		{`{{1}{2}}`, "", value.ErrSyntax},
		{`{1}{2}`, "", value.ErrSyntax},
		{`[0:1]{1,2}`, "", value.ErrSyntax},
		{`[1:0]={1}`, "", value.ErrSyntax},
		{`[a:b]={1}`, "", value.ErrSyntax},
		{`[1]={1}`, "", value.ErrSyntax},
	} {
		got, err := walk(c.in)
		same(t, fmt.Sprintf("walk %q", c.in), got, err, c.want, c.class)
	}
}

func TestArrayShape(t *testing.T) {
	for _, c := range []textCase{
		{`{}`, "[]", nil},
		{`{1,NULL}`, "[2@1]", nil},
		{`{{1,2,3},{4,5,6}}`, "[2@1 3@1]", nil},
		{`[0:1]={1,2}`, "[2@0]", nil},
		{`[-1:0][5:5]={{1},{2}}`, "[2@-1 1@5]", nil},
		{`{{{{{{1}}}}}}`, "[1@1 1@1 1@1 1@1 1@1 1@1]", nil},
		{`{{{{{{{1}}}}}}}`, "", value.ErrSyntax},
		{`{{1,2},{3}}`, "", value.ErrSyntax},
		{`{{1},{2,3}}`, "", value.ErrSyntax},
		{`{1,{2}}`, "", value.ErrSyntax},
		{`{{1},2}`, "", value.ErrSyntax},
		{`{{},{}}`, "", value.ErrSyntax},
		{`{{}}`, "", value.ErrSyntax},
		{`[0:2]={1,2}`, "", value.ErrSyntax},
		{`[0:1]={{1},{2}}`, "", value.ErrSyntax},
		{`[1:1][1:1]={1}`, "", value.ErrSyntax},
		{`[1:1]={}`, "", value.ErrSyntax},
		{`[-2147483648:2147483647]={1}`, "", value.ErrSyntax},
	} {
		s, err := value.ArrayShape([]byte(c.in))
		var dims []string
		for i := range s.Dims {
			dims = append(dims, fmt.Sprintf("%d@%d", s.Len[i], s.Lower[i]))
		}
		same(t, fmt.Sprintf("ArrayShape(%q)", c.in), fmt.Sprint(dims), err, c.want, c.class)
	}
}

func TestAppendArrayElement(t *testing.T) {
	for in, want := range map[string]string{
		"1": "1", "": `""`, "null": `"null"`, "nullable": "nullable", "a b": `"a b"`, `a"\b`: `"a\"\\b"`,
		"{": `"{"`, "x,y": `"x,y"`, "x\ty": "\"x\ty\"", "é": "é", "[1:2]": "[1:2]",
	} {
		if got := string(value.AppendArrayElement(nil, []byte(in))); got != want {
			t.Errorf("AppendArrayElement(%q) = %s, want %s", in, got, want)
		}
	}
	if got := string(value.AppendArrayElement(nil, nil)); got != "NULL" {
		t.Errorf("NULL is written as %s", got)
	}
}

func TestArraysConvertElementByElement(t *testing.T) {
	array := func(elem batch.Type) batch.Type { return batch.Type{Kind: batch.Array, Elem: &elem} }
	for _, c := range []struct {
		from, to  batch.Type
		cast      bool
		cell      string
		want      string
		class     error
		unchanged bool
	}{
		{array(batch.Of(batch.Int32)), array(batch.Of(batch.Int64)), false, `{1,2}`, "", nil, true},
		{array(batch.Of(batch.Bool)), array(batch.Of(batch.Int16)), false, `{true,NULL,false}`, `{1,NULL,0}`, nil, false},
		{array(batch.Of(batch.Date)), array(batch.Of(batch.Timestamp)), false, `{2024-01-31}`, `{"2024-01-31 00:00:00"}`, nil, false},
		{array(batch.Of(batch.Decimal)), array(batch.Of(batch.Int32)), false, `{1.0,2.5}`, "", value.ErrPrecision, false},
		{array(batch.Of(batch.Decimal)), array(batch.Of(batch.Int32)), true, `[0:1][1:1]={{1.0},{2.5}}`, `[0:1][1:1]={{1},{3}}`, nil, false},
		{array(batch.Of(batch.Text)), array(batch.Of(batch.Bytes)), false, `{abc,"\\x4A4b",""}`, `{"\\x616263","\\x4a4b","\\x"}`, nil, false},
		{array(batch.Of(batch.Bytes)), array(batch.Of(batch.Text)), false, `{"\\x41"}`, "", nil, true},
		{array(batch.Of(batch.Int32)), batch.Of(batch.JSON), false, `{{1,2},{NULL,4}}`, `[[1,2],[null,4]]`, nil, false},
		{array(batch.Of(batch.Text)), batch.Of(batch.JSON), false, `{"a\"b",NULL,"NULL","1"}`, `["a\"b",null,"NULL","1"]`, nil, false},
		{array(batch.Of(batch.JSON)), batch.Of(batch.JSON), false, `{"{\"a\": 1}",2}`, `[{"a": 1},2]`, nil, false},
		{array(batch.Of(batch.Timestamp)), batch.Of(batch.JSON), false, `{"2024-01-31 00:00:00"}`, `["2024-01-31 00:00:00"]`, nil, false},
		{array(batch.Of(batch.Float64)), batch.Of(batch.JSON), false, `{1.5,NaN}`, "", value.ErrRange, false},
		{batch.Of(batch.Array), batch.Of(batch.JSON), false, `{}`, `[]`, nil, false},
		{array(batch.Of(batch.Int32)), batch.Of(batch.JSON), false, `[0:1]={1,2}`, "", value.ErrPrecision, false},
		{array(batch.Of(batch.Int32)), batch.Of(batch.JSON), false, `[1:2]={1,2}`, `[1,2]`, nil, false},
		{array(batch.Of(batch.JSON)), batch.Of(batch.JSON), false, `{{1},{2}}`, "", value.ErrPrecision, false},

		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), false, ` [ 1 , null, -3 ] `, `{1,NULL,-3}`, nil, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), false, `[[1,2],[null,4]]`, `{{1,2},{NULL,4}}`, nil, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), false, `[]`, `{}`, nil, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), false, `[[1],[2,3]]`, "", value.ErrSyntax, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), false, `["1", 2147483648]`, "", value.ErrRange, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), false, `[1.5]`, "", value.ErrSyntax, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), true, `[1.5]`, "", value.ErrSyntax, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), false, `{"a":1}`, "", value.ErrSyntax, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), false, `null`, "", value.ErrSyntax, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Int32)), false, `[1,2`, "", value.ErrSyntax, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Text)), false, `["a\"b","NULL",null,"","\u00e9\ud83d\ude00\n{,}",true]`, "{\"a\\\"b\",\"NULL\",NULL,\"\",\"é😀\n{,}\",true}", nil, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Text)), false, `["\ud83d"]`, "", value.ErrSyntax, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Text)), false, `["\ud83d\u0041"]`, "", value.ErrSyntax, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.JSON)), false, `[{"a": [1, "]"]},"x",[1]]`, `{"{\"a\": [1, \"]\"]}","\"x\"",[1]}`, nil, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Timestamp)), false, `["2024-01-31T00:00:00"]`, `{"2024-01-31 00:00:00"}`, nil, false},
		{batch.Of(batch.JSON), array(batch.Of(batch.Bytes)), false, `["\\x0a","a"]`, `{"\\x0a","\\x61"}`, nil, false},
		{array(batch.Of(batch.Int32)), batch.Of(batch.Text), false, `{1}`, "", nil, true},
	} {
		convert := value.Convert
		if c.cast {
			convert = value.ConvertCast
		}
		name := fmt.Sprintf("%s to %s of %s", c.from, c.to, c.cell)
		f, err := convert(c.from, c.to)
		if err != nil || (f == nil) != c.unchanged {
			t.Errorf("%s: unchanged is %t, error %v", name, f == nil, err)
			continue
		}
		if f == nil {
			continue
		}
		got, err := f([]byte("~"), []byte(c.cell))
		same(t, name, string(got), err, "~"+c.want, c.class)
		if err != nil && string(got) != "~" {
			t.Errorf("%s: after an error dst is %q", name, got)
		}
	}
}
