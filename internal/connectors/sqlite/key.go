package sqlite

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// keyValue is a value of any storage class, as a text that starts with the
// class: i-17, f3ff8000000000000 (the bits), tabc, xff00 (a text that is not
// UTF-8), bff00.
type keyValue string

// appendKey appends a result column's value, as a keyValue has it.
func appendKey(dst []byte, s *native.Stmt, i int) []byte {
	switch s.Class(i) {
	case native.Integer:
		return strconv.AppendInt(append(dst, 'i'), s.Int64(i), 10)
	case native.Float:
		return strconv.AppendUint(append(dst, 'f'), math.Float64bits(s.Float(i)), 16)
	case native.Blob:
		return hex.AppendEncode(append(dst, 'b'), s.Blob(i))
	}
	text := s.Text(i)
	if !utf8.Valid(text) {
		return hex.AppendEncode(append(dst, 'x'), text)
	}
	return append(append(dst, 't'), text...)
}

// value returns what native binds.
func (k keyValue) value() (any, error) {
	if k == "" {
		return nil, errKey(k)
	}
	rest := string(k[1:])
	switch k[0] {
	case 'i':
		v, err := strconv.ParseInt(rest, 10, 64)
		if err == nil {
			return v, nil
		}
	case 'f':
		v, err := strconv.ParseUint(rest, 16, 64)
		if err == nil {
			return math.Float64frombits(v), nil
		}
	case 't':
		return rest, nil
	case 'x', 'b':
		v, err := hex.DecodeString(rest)
		if err == nil && k[0] == 'x' {
			return string(v), nil
		}
		if err == nil {
			return v, nil
		}
	}
	return nil, errKey(k)
}

func errKey(k keyValue) error {
	return connector.Errorf(connector.Fatal, "%q is not a value of a key", string(k))
}

// formatKey and parseKey turn a key into a position and back: a number alone
// is a rowid, else a list of values.
func formatKey(key []keyValue) string {
	if len(key) == 1 && key[0][0] == 'i' {
		return string(key[0][1:])
	}
	text, err := json.Marshal(key)
	if err != nil {
		panic(err) // texts can always be marshalled
	}
	return string(text)
}

func parseKey(text string) ([]keyValue, error) {
	if text == "" {
		return nil, nil
	}
	if !strings.HasPrefix(text, "[") {
		if _, err := strconv.ParseInt(text, 10, 64); err != nil {
			return nil, connector.Errorf(connector.Fatal, "%q is not a position", text)
		}
		return []keyValue{keyValue("i" + text)}, nil
	}
	var key []keyValue
	if err := json.Unmarshal([]byte(text), &key); err != nil {
		return nil, connector.Errorf(connector.Fatal, "%q is not a position: %w", text, err)
	}
	for _, k := range key {
		if _, err := k.value(); err != nil {
			return nil, err
		}
	}
	return key, nil
}
