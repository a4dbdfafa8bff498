package option

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
)

// FromQuery takes those parameters of a URL that are named like options of
// ptr's struct, but for the excepted, out of the query, and returns them as
// values for Parse. Only a list may stand there several times.
func FromQuery(ptr any, query url.Values, except ...string) (map[string]any, error) {
	values := map[string]any{}
	for _, f := range fieldsOf(structOf(ptr).Type()) {
		texts, given := query[f.name]
		if !given || slices.Contains(except, f.name) {
			continue
		}
		switch {
		case len(texts) == 1:
			values[f.name] = texts[0]
		case f.typ.Kind() == reflect.Slice:
			values[f.name] = texts
		default:
			return nil, fmt.Errorf("%s stands %d times in the location", f.name, len(texts))
		}
		delete(query, f.name)
	}
	return values, nil
}
