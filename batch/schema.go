package batch

// Field is a column of a schema.
type Field struct {
	Name string `json:"name"`
	Type Type   `json:"type"`
	// NotNull says that the source promises no NULL in this column.
	NotNull bool `json:"not_null,omitempty"`
}

// Schema is the columns of a set of records, in order, and what is unique
// about them.
type Schema struct {
	Fields []Field `json:"fields"`
	// Key names the columns of the primary key, or of the best unique key
	// without NULLs; empty when there is none.
	Key []string `json:"key,omitempty"`
}

// Index returns the place of the field of that exact name, or -1.
func (s *Schema) Index(name string) int {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return i
		}
	}
	return -1
}

// Names returns the fields' names in order.
func (s *Schema) Names() []string {
	names := make([]string, len(s.Fields))
	for i := range s.Fields {
		names[i] = s.Fields[i].Name
	}
	return names
}

// Equal reports whether two schemas have the same fields and key in the same order.
func (s *Schema) Equal(o *Schema) bool {
	if len(s.Fields) != len(o.Fields) || len(s.Key) != len(o.Key) {
		return false
	}
	for i, f := range s.Fields {
		g := o.Fields[i]
		if f.Name != g.Name || f.NotNull != g.NotNull || !f.Type.Equal(g.Type) {
			return false
		}
	}
	for i := range s.Key {
		if s.Key[i] != o.Key[i] {
			return false
		}
	}
	return true
}
