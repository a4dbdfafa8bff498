package option

import (
	"fmt"
	"reflect"
)

// Doc is what is declared of an option, for people.
type Doc struct {
	Name string
	// Type is a word: text, integer, size, list of text, …
	Type string
	// Default is the default as text, "" when there is none.
	Default  string
	Enum     []string
	Doc      string
	Required bool
}

// Describe returns the options that ptr's struct declares, in its order, those
// within others after them with their full names.
func Describe(ptr any) []Doc { return describe(structOf(ptr).Type(), "") }

func describe(t reflect.Type, prefix string) []Doc {
	var docs []Doc
	for _, f := range fieldsOf(t) {
		docs = append(docs, Doc{
			Name: prefix + f.name, Type: typeName(f.typ), Default: f.def,
			Enum: f.enum, Doc: f.doc, Required: f.required,
		})
		inner := f.typ
		for inner.Kind() == reflect.Slice || inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && !isText(inner) {
			docs = append(docs, describe(inner, prefix+f.name+".")...)
		}
	}
	return docs
}

// typeName returns the word for a type of options; it panics for a type that
// Parse cannot fill.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Size]():
		return "size"
	case reflect.TypeFor[Duration]():
		return "duration"
	case reflect.TypeFor[Secret]():
		return "secret text"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return typeName(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "integer"
	case reflect.Float32, reflect.Float64:
		return "number"
	case reflect.Slice:
		return "list of " + typeName(t.Elem())
	case reflect.Map:
		if t.Key().Kind() == reflect.String {
			return "map of " + typeName(t.Elem())
		}
	case reflect.Struct:
		if isText(t) {
			return "text"
		}
		return "map"
	}
	panic(fmt.Sprintf("option: %s cannot be an option", t))
}
