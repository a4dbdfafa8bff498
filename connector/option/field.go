package option

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// field is a declared option of a struct.
type field struct {
	name       string
	doc        string
	def        string
	hasDefault bool
	required   bool
	tuning     bool
	whole      bool
	enum       []string
	index      []int
	typ        reflect.Type
}

// fieldsOf reads a struct's declaration; it panics when it is wrong.
func fieldsOf(t reflect.Type) []field {
	fields := appendFields(nil, t, nil)
	for i, f := range fields {
		for _, g := range fields[:i] {
			if f.name == g.name {
				panic(fmt.Sprintf("option: %s declares %q twice", t, f.name))
			}
		}
	}
	return fields
}

func appendFields(fields []field, t reflect.Type, index []int) []field {
	for i := range t.NumField() {
		sf := t.Field(i)
		at := append(slices.Clone(index), i)
		tag, tagged := sf.Tag.Lookup("option")
		switch {
		case tagged && !sf.IsExported():
			panic(fmt.Sprintf("option: %s.%s has a tag and is not exported", t, sf.Name))
		case tagged:
			fields = append(fields, newField(sf, tag, at))
		case sf.Anonymous && sf.Type.Kind() == reflect.Struct:
			fields = appendFields(fields, sf.Type, at)
		}
	}
	return fields
}

func newField(sf reflect.StructField, tag string, index []int) field {
	parts := strings.Split(tag, ",")
	f := field{name: parts[0], doc: sf.Tag.Get("doc"), index: index, typ: sf.Type}
	for _, flag := range parts[1:] {
		switch flag {
		case "required":
			f.required = true
		case "tuning":
			f.tuning = true
		case "whole":
			f.whole = true
		default:
			panic(fmt.Sprintf("option: %s has the unknown flag %q", sf.Name, flag))
		}
	}
	if f.name == "" {
		panic(fmt.Sprintf("option: %s has a tag without a name", sf.Name))
	}
	f.def, f.hasDefault = sf.Tag.Lookup("default")
	if enum, ok := sf.Tag.Lookup("enum"); ok {
		f.enum = strings.Split(enum, ",")
	}
	if f.hasDefault {
		if err := f.set(reflect.New(sf.Type).Elem(), f.def); err != nil {
			panic(fmt.Sprintf("option: the default of %s: %v", f.name, err))
		}
	}
	typeName(sf.Type) // panics for a type that cannot be an option
	return f
}

// set converts a value into v and checks it against the enum.
func (f *field) set(v reflect.Value, value any) error {
	if text, ok := value.(string); ok && f.whole {
		value = []string{text}
	}
	if err := assign(v, value); err != nil {
		return err
	}
	if f.enum == nil {
		return nil
	}
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice {
		for i := range v.Len() {
			if err := f.checkEnum(v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	}
	return f.checkEnum(v)
}

func (f *field) checkEnum(v reflect.Value) error {
	got := fmt.Sprint(v.Interface())
	if slices.Contains(f.enum, got) {
		return nil
	}
	if near := Nearest(got, f.enum); near != "" {
		return fmt.Errorf("%q is not one of %s; did you mean %q?", got, strings.Join(f.enum, ", "), near)
	}
	return fmt.Errorf("%q is not one of %s", got, strings.Join(f.enum, ", "))
}
