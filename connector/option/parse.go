package option

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// validator is what an options struct may have besides its tags.
type validator interface{ Validate() error }

// Parse fills the struct that into points at from values: defaults for what
// is not given, and one *Problem for each value that is unknown, missing or
// wrong, joined. Without problems it ends with into's Validate, if it has one.
func Parse(values map[string]any, into any) error {
	v := structOf(into)
	problems := parseStruct(values, v, "")
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	if check, ok := into.(validator); ok {
		return check.Validate()
	}
	return nil
}

func structOf(ptr any) reflect.Value {
	v := reflect.ValueOf(ptr)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		panic(fmt.Sprintf("option: %T is not a pointer to a struct", ptr))
	}
	return v.Elem()
}

// parseStruct sets the options of v; prefix stands before the names of
// options within others.
func parseStruct(values map[string]any, v reflect.Value, prefix string) []error {
	fields := fieldsOf(v.Type())
	problems := unknown(values, fields, prefix)
	for i := range fields {
		f := &fields[i]
		target := v.FieldByIndex(f.index)
		value, given := values[f.name]
		switch {
		case !given && f.required:
			problems = append(problems, &Problem{Option: prefix + f.name, Kind: Missing, Reason: "must be given"})
			continue
		case !given && !f.hasDefault:
			continue
		case !given:
			value = f.def
		case value == nil && target.Kind() != reflect.Pointer:
			problems = append(problems, &Problem{Option: prefix + f.name, Kind: Wrong, Reason: "has no value"})
			continue
		}
		if err := f.set(target, value); err != nil {
			problems = append(problems, nested(err, prefix+f.name)...)
			continue
		}
		if f.required && target.IsZero() {
			problems = append(problems, &Problem{Option: prefix + f.name, Kind: Missing, Reason: "must not be empty"})
		}
	}
	return problems
}

func unknown(values map[string]any, fields []field, prefix string) []error {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.name
	}
	var bad []string
	for name := range values {
		if !slices.Contains(names, name) {
			bad = append(bad, name)
		}
	}
	slices.Sort(bad)
	var problems []error
	for _, name := range bad {
		problems = append(problems, &Problem{
			Option: prefix + name, Kind: Unknown, Nearest: Nearest(name, names), Reason: "is not known",
		})
	}
	return problems
}

// nested names the option in the errors of its value: those of options within
// it already have names.
func nested(err error, name string) []error {
	if inner, ok := errors.AsType[*within](err); ok {
		problems := make([]error, len(inner.problems))
		for i, p := range inner.problems {
			q := *p
			q.Option = name + inner.at + "." + p.Option
			problems[i] = &q
		}
		return problems
	}
	return []error{&Problem{Option: name, Kind: Wrong, Reason: err.Error()}}
}
