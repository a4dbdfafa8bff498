package option

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Identity returns the options of ptr's struct by name as texts, for comparing
// two jobs. Options at their defaults, tuning, nil and secret words are left
// out; connection texts are without their passwords, which may change while
// the place stays the same.
func Identity(ptr any) map[string]string {
	v := structOf(ptr)
	texts := map[string]string{}
	for _, f := range fieldsOf(v.Type()) {
		if f.tuning {
			continue
		}
		text, ok := identityText(v.FieldByIndex(f.index))
		if ok && text != f.defaultText() {
			texts[f.name] = text
		}
	}
	return texts
}

// defaultText is what identityText says of the option when it is not given.
// A pointer that is given is never its default.
func (f *field) defaultText() string {
	if f.typ.Kind() == reflect.Pointer && !f.hasDefault {
		return "\x00not given"
	}
	v := reflect.New(f.typ).Elem()
	if f.hasDefault {
		if err := assign(v, f.def); err != nil {
			panic(fmt.Sprintf("option: the default of %s: %v", f.name, err))
		}
	}
	text, _ := identityText(v)
	return text
}

func identityText(v reflect.Value) (string, bool) {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "", false
		}
		v = v.Elem()
	}
	if secret, ok := v.Interface().(Secret); ok {
		if !isConnectionText(secret.Reveal()) {
			return "", false
		}
		return secret.Masked(), true
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.Struct:
		if v.Kind() != reflect.Struct && v.Len() == 0 {
			return "", true
		}
		text, err := json.Marshal(v.Interface())
		if err != nil {
			panic(fmt.Sprintf("option: %s does not marshal: %v", v.Type(), err))
		}
		return string(text), true
	}
	return fmt.Sprint(v.Interface()), true
}
