package codec

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"
)

// maxDepth bounds how deep values nest, so that no input exhausts the stack.
const maxDepth = 64

// The wire types.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// form is how a value is written.
type form uint8

const (
	formBool form = iota
	formInt
	formUint
	formFloat32
	formFloat64
	formString
	formBytes
	formByteArray
	formStruct
	formTime
	formBinary
	formCustom
	formPointer
	formSlice
	formMap
)

// Custom says how values of a type that the codec does not know are written.
// Decode gets what was handed to [Plan.Decode].
type Custom struct {
	Type   reflect.Type
	Append func(dst []byte, v reflect.Value) ([]byte, error)
	Decode func(data []byte, v reflect.Value, with any) error
}

// Plan is how a struct type is written and read. It is safe for concurrent use.
type Plan struct {
	typ    reflect.Type
	fields []field
	// byNumber is fields by number where numbers are small, else nil.
	byNumber []*field
	// mutable says that a copy of a value shares memory that can be changed.
	mutable bool
}

type field struct {
	number int
	index  int
	name   string
	value  *value
}

// value is how a value of one type is written.
type value struct {
	form   form
	typ    reflect.Type
	plan   *Plan
	elem   *value
	key    *value
	custom Custom
}

// compiler remembers the plans in work, for types that contain themselves.
type compiler struct {
	plans   map[reflect.Type]*Plan
	customs []Custom
}

// Compile makes the plan of a struct type, or says which field cannot be
// carried and why.
func Compile(t reflect.Type, customs ...Custom) (*Plan, error) {
	c := &compiler{plans: map[reflect.Type]*Plan{}, customs: customs}
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("%s is not a struct", t)
	}
	plan, err := c.structPlan(t)
	if err != nil {
		return nil, err
	}
	plan.mutable = shares(t, customs, map[reflect.Type]bool{})
	return plan, nil
}

// Mutable says whether two copies of a value share memory that can be changed.
func (p *Plan) Mutable() bool { return p.mutable }

func (c *compiler) structPlan(t reflect.Type) (*Plan, error) {
	if p, ok := c.plans[t]; ok {
		return p, nil
	}
	p := &Plan{typ: t}
	c.plans[t] = p
	var problems []error
	for i := range t.NumField() {
		f, err := c.field(t, i)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if f.value == nil {
			continue
		}
		if slices.ContainsFunc(p.fields, func(o field) bool { return o.number == f.number }) {
			problems = append(problems, fmt.Errorf("field %s.%s: number %d is used twice", t, f.name, f.number))
			continue
		}
		p.fields = append(p.fields, f)
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	slices.SortFunc(p.fields, func(a, b field) int { return a.number - b.number })
	p.indexNumbers()
	return p, nil
}

func (p *Plan) indexNumbers() {
	if n := len(p.fields); n == 0 || p.fields[n-1].number > 8*n+64 {
		return
	}
	p.byNumber = make([]*field, p.fields[len(p.fields)-1].number+1)
	for i := range p.fields {
		p.byNumber[p.fields[i].number] = &p.fields[i]
	}
}

// lookup finds a field by its number; nil where there is none.
func (p *Plan) lookup(number uint64) *field {
	if p.byNumber != nil {
		if number < uint64(len(p.byNumber)) {
			return p.byNumber[number]
		}
		return nil
	}
	for i := range p.fields {
		if uint64(p.fields[i].number) == number {
			return &p.fields[i]
		}
	}
	return nil
}

// field reads a field's tag; its value is nil when the field is left out.
func (c *compiler) field(t reflect.Type, i int) (field, error) {
	sf := t.Field(i)
	tag, tagged := sf.Tag.Lookup("rpc")
	switch {
	case tag == "-", !tagged && !sf.IsExported():
		return field{}, nil
	case !sf.IsExported():
		return field{}, fmt.Errorf("field %s.%s: has a number but is not exported", t, sf.Name)
	case !tagged:
		return field{}, fmt.Errorf("field %s.%s: has no number: add a tag such as `rpc:\"%d\"`, or `rpc:\"-\"` to leave it out", t, sf.Name, i+1)
	}
	number, err := strconv.Atoi(tag)
	if err != nil || number < 1 || number >= 1<<29 {
		return field{}, fmt.Errorf("field %s.%s: %q is not a number from 1 to %d", t, sf.Name, tag, 1<<29-1)
	}
	v, err := c.value(sf.Type, true)
	if err != nil {
		return field{}, fmt.Errorf("field %s.%s: %w", t, sf.Name, err)
	}
	return field{number: number, index: i, name: sf.Name, value: v}, nil
}

// value makes the plan of a type; many says whether it may be a slice or a map.
func (c *compiler) value(t reflect.Type, many bool) (*value, error) {
	v := &value{typ: t}
	for _, custom := range c.customs {
		if custom.Type == t {
			v.form, v.custom = formCustom, custom
			return v, nil
		}
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		v.form = formTime
		return v, nil
	case isBinary(t):
		v.form = formBinary
		return v, nil
	}
	if form, ok := scalarForm(t.Kind()); ok {
		v.form = form
		return v, nil
	}
	return c.composite(v, t, many)
}

// isBinary says whether a type writes and reads itself.
func isBinary(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[encoding.BinaryMarshaler]()) &&
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.BinaryUnmarshaler]()) &&
		t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface
}

func scalarForm(k reflect.Kind) (form, bool) {
	switch k {
	case reflect.Bool:
		return formBool, true
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return formInt, true
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return formUint, true
	case reflect.Float32:
		return formFloat32, true
	case reflect.Float64:
		return formFloat64, true
	case reflect.String:
		return formString, true
	default:
		return 0, false
	}
}

func (c *compiler) composite(v *value, t reflect.Type, many bool) (*value, error) {
	var err error
	switch t.Kind() {
	case reflect.Struct:
		v.form = formStruct
		v.plan, err = c.structPlan(t)
	case reflect.Pointer:
		v.form = formPointer
		if t.Elem().Kind() == reflect.Pointer {
			return nil, fmt.Errorf("%s cannot be carried: a pointer to a pointer", t)
		}
		v.elem, err = c.value(t.Elem(), false)
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			v.form = formBytes
			if t.Kind() == reflect.Array {
				v.form = formByteArray
			}
			return v, nil
		}
		if !many || t.Kind() == reflect.Array {
			return nil, fmt.Errorf("%s cannot be carried here: wrap the inner one in a struct", t)
		}
		v.form = formSlice
		v.elem, err = c.value(t.Elem(), false)
	case reflect.Map:
		if !many {
			return nil, fmt.Errorf("%s cannot be carried here: wrap the inner one in a struct", t)
		}
		v.form = formMap
		if form, ok := scalarForm(t.Key().Kind()); !ok || form == formFloat32 || form == formFloat64 {
			return nil, fmt.Errorf("%s cannot be carried: its key is not a text, a number or a bool", t)
		}
		if v.key, err = c.value(t.Key(), false); err == nil {
			v.elem, err = c.value(t.Elem(), false)
		}
	default:
		return nil, fmt.Errorf("%s cannot be carried in a message", t)
	}
	return v, err
}

// shares says whether a copy of a value shares memory that can be changed.
func shares(t reflect.Type, customs []Custom, seen map[reflect.Type]bool) bool {
	if seen[t] || t == reflect.TypeFor[time.Time]() ||
		slices.ContainsFunc(customs, func(c Custom) bool { return c.Type == t }) {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Struct:
		for field := range t.Fields() {
			if shares(field.Type, customs, seen) {
				return true
			}
		}
		return false
	case reflect.Array:
		return shares(t.Elem(), customs, seen)
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	default:
		return false
	}
}
