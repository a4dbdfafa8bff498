package codec

import (
	"reflect"
	"strings"
	"testing"
)

type inner struct {
	N int `rpc:"1"`
}

// node contains itself.
type node struct {
	Next *node `rpc:"1"`
	N    int   `rpc:"2"`
}

func TestCompileNamesTheFieldThatCannotBeCarried(t *testing.T) {
	for want, v := range map[string]any{
		"A: has no number":       struct{ A int }{},
		"number 1 is used twice": struct{ A, B int }{},
		`"x" is not a number`: struct {
			A int `rpc:"x"`
		}{},
		`"0" is not a number`: struct {
			A int `rpc:"0"`
		}{},
		"not exported": struct {
			a int `rpc:"1"`
		}{},
		"chan int cannot be carried": struct {
			A chan int `rpc:"1"`
		}{},
		"error cannot be carried": struct {
			A error `rpc:"1"`
		}{},
		"[]int cannot be carried here": struct {
			A [][]int `rpc:"1"`
		}{},
		"pointer to a pointer": struct {
			A **int `rpc:"1"`
		}{},
		"its key is not": struct {
			A map[float64]int `rpc:"1"`
		}{},
		"[]int cannot be carried": struct {
			A map[string][]int `rpc:"1"`
		}{},
		"[2]int cannot be carried here": struct {
			A [2]int `rpc:"1"`
		}{},
		"is not a struct": 5,
	} {
		typ := reflect.TypeOf(v)
		if strings.Contains(want, "twice") {
			typ = reflect.TypeFor[struct {
				A int `rpc:"1"`
				B int `rpc:"1"`
			}]()
		}
		_, err := Compile(typ)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", typ, err, want)
		}
	}
}

func TestMutable(t *testing.T) {
	for want, types := range map[bool][]reflect.Type{
		false: {reflect.TypeFor[inner](), reflect.TypeFor[struct {
			S string `rpc:"1"`
			I inner  `rpc:"2"`
		}]()},
		true: {reflect.TypeFor[node](), reflect.TypeFor[struct {
			B []byte `rpc:"1"`
		}]()},
	} {
		for _, typ := range types {
			p, err := Compile(typ)
			if err != nil || p.Mutable() != want {
				t.Errorf("%s: mutable %v, %v", typ, p.Mutable(), err)
			}
		}
	}
}

func TestDepthIsBounded(t *testing.T) {
	p, err := Compile(reflect.TypeFor[node]())
	if err != nil {
		t.Fatal(err)
	}
	circle := &node{}
	circle.Next = circle
	if _, err := p.Append(nil, reflect.ValueOf(*circle)); err == nil {
		t.Error("a circle was written")
	}
	data := []byte{2 << 3, 2}
	for range 1000 {
		data = append(append([]byte(nil), 1<<3|wireBytes), append(appendLength(len(data)), data...)...)
	}
	var n node
	if err := p.Decode(data, reflect.ValueOf(&n).Elem(), nil); err == nil {
		t.Error("a thousand levels were read")
	}
}

func appendLength(n int) []byte {
	if n < 0x80 {
		return []byte{byte(n)}
	}
	return []byte{byte(n) | 0x80, byte(n >> 7)}
}

func TestDecodeRefusesWhatDoesNotFit(t *testing.T) {
	type narrow struct {
		A int8    `rpc:"1"`
		B string  `rpc:"2"`
		C [2]byte `rpc:"3"`
		D []int32 `rpc:"4"`
	}
	p, err := Compile(reflect.TypeFor[narrow]())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"range":       {1 << 3, 0xff, 0x7f},
		"wire type":   {2 << 3, 1},
		"length":      {2<<3 | 2, 9, 'x'},
		"array":       {3<<3 | 2, 1, 0},
		"key":         {0, 1},
		"half":        {4<<3 | 2, 1, 0x80},
		"group":       {9<<3 | 3},
		"long number": {1 << 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1},
	} {
		var v narrow
		if err := p.Decode(data, reflect.ValueOf(&v).Elem(), nil); err == nil {
			t.Errorf("%s: %x was read as %+v", name, data, v)
		}
	}
}
