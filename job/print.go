package job

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/leatdata/leat/connector/option"
)

// treeOf makes the tree of options that come from Go code.
func treeOf(value any) *node {
	switch x := value.(type) {
	case nil:
		return &node{shape: null}
	case string:
		return &node{shape: scalar, text: x, quoted: true}
	case option.Secret:
		return &node{shape: scalar, text: x.Reveal(), quoted: true}
	}
	v := reflect.ValueOf(value)
	switch v.Kind() {
	case reflect.Map:
		n := &node{shape: mapping}
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			n.entries = append(n.entries, entry{key: key.String(), value: treeOf(v.MapIndex(key).Interface())})
		}
		return n
	case reflect.Slice:
		n := &node{shape: list}
		for i := range v.Len() {
			n.items = append(n.items, treeOf(v.Index(i).Interface()))
		}
		return n
	}
	return &node{shape: scalar, text: fmt.Sprint(value)}
}

// YAML returns the job as a job file that makes the same job. A password of
// the source or the sink is left to ${env:LEAT_SOURCE_PASSWORD} or
// ${env:LEAT_SINK_PASSWORD}, a URL's with its escapes.
func (j *Job) YAML() string {
	doc := yaml.MapSlice{
		{Key: "name", Value: j.Name},
		{Key: "source", Value: j.Source.yaml("${env:LEAT_SOURCE_PASSWORD}")},
		{Key: "sink", Value: j.Sink.yaml("${env:LEAT_SINK_PASSWORD}")},
	}
	if len(j.Columns) > 0 {
		doc = append(doc, yaml.MapItem{Key: "columns", Value: columnsYAML(j.Columns)})
	}
	if j.Where != "" {
		doc = append(doc, yaml.MapItem{Key: "where", Value: escape(j.Where)})
	}
	if j.Parallelism > 0 {
		doc = append(doc, yaml.MapItem{Key: "parallelism", Value: j.Parallelism})
	}
	doc = append(doc, j.sectionsYAML()...)
	text, err := yaml.MarshalWithOptions(doc, yaml.IndentSequence(true))
	if err != nil {
		panic(fmt.Sprintf("job: texts and lists do not marshal: %v", err))
	}
	return string(text)
}

// sectionsYAML returns the sections that are not as they are by default.
func (j *Job) sectionsYAML() yaml.MapSlice {
	var doc yaml.MapSlice
	if (j.Speed != Speed{}) {
		s := yaml.MapSlice{}
		if j.Speed.Bytes > 0 {
			s = append(s, yaml.MapItem{Key: "bytes", Value: j.Speed.Bytes})
		}
		if j.Speed.Records > 0 {
			s = append(s, yaml.MapItem{Key: "records", Value: j.Speed.Records})
		}
		doc = append(doc, yaml.MapItem{Key: "speed", Value: s})
	}
	if (j.Errors != Errors{Percentage: -1}) {
		s := yaml.MapSlice{}
		if j.Errors.Records >= 0 {
			s = append(s, yaml.MapItem{Key: "records", Value: j.Errors.Records})
		}
		if j.Errors.Percentage >= 0 {
			s = append(s, yaml.MapItem{Key: "percentage", Value: j.Errors.Percentage})
		}
		if j.Errors.Dirty != "" {
			s = append(s, yaml.MapItem{Key: "dirty", Value: escape(j.Errors.Dirty)})
		}
		doc = append(doc, yaml.MapItem{Key: "errors", Value: s})
	}
	checkpoint, restart := defaultCheckpoint(), defaultRestart()
	if j.Checkpoint != checkpoint {
		doc = append(doc, yaml.MapItem{Key: "checkpoint", Value: yaml.MapSlice{
			{Key: "interval", Value: option.Duration(j.Checkpoint.Interval).String()}, {Key: "keep", Value: j.Checkpoint.Keep},
		}})
	}
	if j.Restart != restart {
		doc = append(doc, yaml.MapItem{Key: "restart", Value: yaml.MapSlice{
			{Key: "attempts", Value: j.Restart.Attempts}, {Key: "backoff", Value: option.Duration(j.Restart.Backoff).String()},
		}})
	}
	return doc
}

func (e *Endpoint) yaml(password string) yaml.MapSlice {
	secret := map[string]bool{}
	for _, doc := range option.Describe(e.Options) {
		secret[doc.Name] = strings.Contains(doc.Type, "secret")
	}
	options := yaml.MapSlice{}
	for _, name := range slices.Sorted(maps.Keys(e.Values)) {
		value := e.Values[name]
		text, isText := value.(string)
		if s, ok := value.(option.Secret); ok {
			text, isText = s.Reveal(), true
		}
		if isText && (secret[name] || e.hidden[name]) {
			value = strings.ReplaceAll(escape(option.Secret(text).Masked()), "***", password)
		} else {
			value = escapeAll(value)
		}
		options = append(options, yaml.MapItem{Key: name, Value: value})
	}
	return yaml.MapSlice{{Key: e.Connector, Value: options}}
}

func columnsYAML(columns []Column) []any {
	var out []any
	for _, c := range columns {
		if !c.Constant && !c.HasCast && c.From == c.Name {
			out = append(out, escape(c.Name))
			continue
		}
		item := yaml.MapSlice{{Key: "name", Value: escape(c.Name)}}
		switch {
		case c.Constant && c.Value == nil:
			item = append(item, yaml.MapItem{Key: "value", Value: nil})
		case c.Constant:
			item = append(item, yaml.MapItem{Key: "value", Value: escape(string(c.Value))})
		case c.From != c.Name:
			item = append(item, yaml.MapItem{Key: "from", Value: escape(c.From)})
		}
		if c.HasCast || c.Constant {
			item = append(item, yaml.MapItem{Key: "cast", Value: c.Cast.String()})
		}
		out = append(out, item)
	}
	return out
}

// escape keeps ${ as it is through interpolation.
func escape(text string) string { return strings.ReplaceAll(text, "${", "$${") }

func escapeAll(value any) any {
	n := treeOf(value)
	return n.plain()
}

// plain returns the tree as Go values for printing, with ${ escaped.
func (n *node) plain() any {
	switch n.shape {
	case scalar:
		return escape(n.text)
	case list:
		items := make([]any, len(n.items))
		for i, item := range n.items {
			items[i] = item.plain()
		}
		return items
	case mapping:
		m := yaml.MapSlice{}
		for _, e := range n.entries {
			m = append(m, yaml.MapItem{Key: e.key, Value: e.value.plain()})
		}
		return m
	}
	return nil
}
