package value_test

import (
	"fmt"
	"testing"

	"github.com/leatdata/leat/batch/value"
)

func TestParseUUID(t *testing.T) {
	const id = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
	for _, c := range []textCase{
		{id, id, nil},
		{"F47AC10B-58CC-4372-A567-0E02B2C3D479", id, nil},
		{"f47ac10b58cc4372a5670e02b2c3d479", id, nil},
		{"{f47ac10b-58cc-4372-a567-0e02b2c3d479}", id, nil},
		{" f47ac10b-58cc-4372-a567-0e02b2c3d479 ", id, nil},
		{"f47a-c10b-58cc-4372-a567-0e02-b2c3-d479", id, nil},
		{"", "", value.ErrSyntax},
		{"f47ac10b-58cc-4372-a567-0e02b2c3d47", "", value.ErrSyntax},
		{"f47ac10b-58cc-4372-a567-0e02b2c3d4790", "", value.ErrSyntax},
		{"f47ac10b-58cc-4372-a567-0e02b2c3d47g", "", value.ErrSyntax},
		{"f47ac10b--58cc-4372-a567-0e02b2c3d479", "", value.ErrSyntax},
		{"-f47ac10b-58cc-4372-a567-0e02b2c3d479", "", value.ErrSyntax},
		{"f47ac10b-58cc-4372-a567-0e02b2c3d479-", "", value.ErrSyntax},
		{"f47-ac10b58cc4372a5670e02b2c3d479", "", value.ErrSyntax},
		{"{f47ac10b-58cc-4372-a567-0e02b2c3d479", "", value.ErrSyntax},
	} {
		v, err := value.ParseUUID([]byte(c.in))
		same(t, fmt.Sprintf("ParseUUID(%q)", c.in), string(value.AppendUUID(nil, v)), err, c.want, c.class)
	}
}

func TestHex(t *testing.T) {
	for _, c := range []textCase{
		{`\x`, "", nil},
		{`\x00ff`, "\x00\xff", nil},
		{`\xFFa0`, "\xff\xa0", nil},
		{`\x0`, "", value.ErrSyntax},
		{`\x0g`, "", value.ErrSyntax},
		{`00`, "", value.ErrSyntax},
		{``, "", value.ErrSyntax},
	} {
		b, err := value.ParseHex(nil, []byte(c.in))
		same(t, fmt.Sprintf("ParseHex(%q)", c.in), string(b), err, c.want, c.class)
	}
	kept, err := value.ParseHex([]byte("before"), []byte(`\x41zz`))
	if string(kept) != "before" || err == nil {
		t.Errorf("after an error ParseHex returns %q, %v", kept, err)
	}
	if got := string(value.AppendHex([]byte("a="), []byte("\x00\xffA"))); got != `a=\x00ff41` {
		t.Errorf("AppendHex gives %s", got)
	}
	for in, want := range map[string]string{"text": "text", `\x74`: "t", "": "", "\x00é": "\x00é"} {
		b, err := value.ParseBytes(nil, []byte(in))
		same(t, fmt.Sprintf("ParseBytes(%q)", in), string(b), err, want, nil)
	}
	// In PostgreSQL's escape format these are other bytes than their own.
	for _, in := range []string{`\y`, `\000`, `a\\b`, `\X41`, `\`} {
		b, err := value.ParseBytes(nil, []byte(in))
		same(t, fmt.Sprintf("ParseBytes(%q)", in), string(b), err, "", value.ErrSyntax)
	}
}

func TestBit(t *testing.T) {
	for _, c := range []struct{ bits, packed string }{
		{"", ""}, {"1", "\x80"}, {"0", "\x00"}, {"00000101", "\x05"}, {"1010101010", "\xaa\x80"},
	} {
		bits, err := value.ParseBit([]byte(" " + c.bits))
		same(t, "ParseBit", string(bits), err, c.bits, nil)
		packed := value.PackBits(nil, bits)
		if string(packed) != c.packed {
			t.Errorf("PackBits(%q) = %x, want %x", c.bits, packed, c.packed)
		}
		if got := string(value.AppendBits(nil, packed, len(bits))); got != c.bits {
			t.Errorf("AppendBits(%x, %d) = %q, want %q", packed, len(bits), got, c.bits)
		}
	}
	for _, in := range []string{"2", "0x5", "1 0", "b'1'"} {
		_, err := value.ParseBit([]byte(in))
		same(t, fmt.Sprintf("ParseBit(%q)", in), "", err, "", value.ErrSyntax)
	}
}

func TestValidJSON(t *testing.T) {
	for in, want := range map[string]bool{
		`"x"`: true, `{"a":[1,null,true]}`: true, " 1 ": true, `-0.5e3`: true,
		"": false, "nul": false, "{": false, "01": false, "'x'": false, "1 2": false, "NaN": false,
		"\"\xff\"": false, `{"a":1,}`: false,
	} {
		if got := value.ValidJSON([]byte(in)); got != want {
			t.Errorf("ValidJSON(%q) = %t", in, got)
		}
	}
}

func TestAppendJSONString(t *testing.T) {
	for in, want := range map[string]string{
		"":                  `""`,
		"a\"b\\c/<>":        `"a\"b\\c/<>"`,
		"x\ny\tz\r\x00\x1f": `"x\ny\tz\r\u0000\u001f"`,
		"Žluťoučký 😀\u2028": "\"Žluťoučký 😀\u2028\"",
	} {
		got, err := value.AppendJSONString(nil, []byte(in))
		same(t, fmt.Sprintf("AppendJSONString(%q)", in), string(got), err, want, nil)
		if !value.ValidJSON(got) {
			t.Errorf("%s is not JSON", got)
		}
	}
	_, err := value.AppendJSONString(nil, []byte("\xff"))
	same(t, "AppendJSONString of no UTF-8", "", err, "", value.ErrSyntax)
}
