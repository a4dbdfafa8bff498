package option

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode"
)

// assign converts a value of a job file, a URL or Go code into v.
func assign(v reflect.Value, value any) error {
	if v.Kind() == reflect.Pointer {
		if value == nil {
			return nil
		}
		v.Set(reflect.New(v.Type().Elem()))
		return assign(v.Elem(), value)
	}
	if value == nil {
		return errors.New("has no value")
	}
	if reflect.TypeOf(value) == v.Type() {
		v.Set(reflect.ValueOf(value))
		return nil
	}
	switch v.Kind() {
	case reflect.Slice:
		return assignSlice(v, value)
	case reflect.Map:
		return assignMap(v, value)
	case reflect.Struct:
		if !isText(v.Type()) {
			return assignStruct(v, value)
		}
	}
	text, err := scalarText(value)
	if err != nil {
		return err
	}
	return assignText(v, text)
}

// assignText sets a scalar from its text.
func assignText(v reflect.Value, text string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		switch strings.ToLower(text) {
		case "true":
			v.SetBool(true)
		case "false":
			v.SetBool(false)
		default:
			return fmt.Errorf("%q is neither true nor false", text)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is not an integer%s", text, outOfRange(err))
		}
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		if err != nil {
			return fmt.Errorf("%q is not an integer of 0 or more%s", text, outOfRange(err))
		}
		v.SetUint(n)
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(text, v.Type().Bits())
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return fmt.Errorf("%q is not a number", text)
		}
		v.SetFloat(n)
	default:
		panic(fmt.Sprintf("option: %s cannot be an option", v.Type()))
	}
	return nil
}

func outOfRange(err error) string {
	if errors.Is(err, strconv.ErrRange) {
		return " in its range"
	}
	return ""
}

// scalarText returns the text of a scalar value.
func scalarText(value any) (string, error) {
	switch x := value.(type) {
	case string:
		return x, nil
	case Secret:
		return x.Reveal(), nil
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64), nil
	case fmt.Stringer:
		return x.String(), nil
	}
	switch reflect.TypeOf(value).Kind() {
	case reflect.Slice, reflect.Array:
		return "", errors.New("is a list where one value is wanted")
	case reflect.Map, reflect.Struct:
		return "", errors.New("is a map where one value is wanted")
	}
	return fmt.Sprint(value), nil
}

func assignSlice(v reflect.Value, value any) error {
	items := reflect.ValueOf(value)
	if text, ok := value.(string); ok {
		items = reflect.ValueOf(splitList(text))
	}
	if items.Kind() != reflect.Slice {
		text, err := scalarText(value)
		if err != nil {
			return errors.New("is a map where a list is wanted")
		}
		items = reflect.ValueOf([]string{text})
	}
	list := reflect.MakeSlice(v.Type(), items.Len(), items.Len())
	for i := range items.Len() {
		if err := assign(list.Index(i), items.Index(i).Interface()); err != nil {
			return at(err, fmt.Sprintf("[%d]", i))
		}
	}
	v.Set(list)
	return nil
}

// splitList splits a text such as "id, name", as URLs give lists. Only words
// are parted: a statement or a path with a comma in it stays one item.
func splitList(text string) []string {
	if strings.TrimSpace(text) == "" {
		return []string{}
	}
	items := strings.Split(text, ",")
	for i := range items {
		items[i] = strings.TrimSpace(items[i])
		if items[i] == "" || strings.ContainsFunc(items[i], func(r rune) bool { return !isWordRune(r) }) {
			return []string{text}
		}
	}
	return items
}

func isWordRune(r rune) bool {
	return r == '_' || r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func assignMap(v reflect.Value, value any) error {
	entries := reflect.ValueOf(value)
	if entries.Kind() != reflect.Map || entries.Type().Key().Kind() != reflect.String {
		return errors.New("is not a map of names to values")
	}
	m := reflect.MakeMapWithSize(v.Type(), entries.Len())
	for _, key := range entries.MapKeys() {
		item := reflect.New(v.Type().Elem()).Elem()
		if err := assign(item, entries.MapIndex(key).Interface()); err != nil {
			return at(err, "."+key.String())
		}
		m.SetMapIndex(key.Convert(v.Type().Key()), item)
	}
	v.Set(m)
	return nil
}

func assignStruct(v reflect.Value, value any) error {
	values, ok := value.(map[string]any)
	if !ok {
		return errors.New("is not a map of names to values")
	}
	errs := parseStruct(values, v, "")
	if len(errs) == 0 {
		return nil
	}
	return &within{problems: Problems(errors.Join(errs...))}
}

// at says where in a list or map the error is.
func at(err error, where string) error {
	if inner, ok := errors.AsType[*within](err); ok {
		return &within{at: where + inner.at, problems: inner.problems}
	}
	return fmt.Errorf("%s: %w", strings.TrimPrefix(where, "."), err)
}

func isText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
