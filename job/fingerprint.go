package job

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leatdata/leat/connector/option"
)

// Fingerprint is what of a job an unfinished run may not change. It holds no
// secrets and is stored with the run.
type Fingerprint struct {
	Source SidePrint `json:"source"`
	Sink   SidePrint `json:"sink"`
	// Columns are the entries of columns, each in one line.
	Columns []string `json:"columns,omitempty"`
	Where   string   `json:"where,omitempty"`
}

// SidePrint is one side of a Fingerprint: the options that are not at their
// defaults and not tuning only. Passwords are left out; what came from the
// environment or a file is hashed.
type SidePrint struct {
	Connector string            `json:"connector"`
	Options   map[string]string `json:"options,omitempty"`
}

// Fingerprint returns the job's identity.
func (j *Job) Fingerprint() Fingerprint {
	f := Fingerprint{Source: j.Source.sidePrint(), Sink: j.Sink.sidePrint(), Where: j.Redact(j.Where)}
	if f.Where != j.Where {
		f.Where = digest(j.Where)
	}
	for _, c := range j.Columns {
		line := c.String()
		if j.Redact(line) != line {
			line = digest(line)
		}
		f.Columns = append(f.Columns, line)
	}
	return f
}

func (e *Endpoint) sidePrint() SidePrint {
	s := SidePrint{Connector: e.Connector, Options: option.Identity(e.Options)}
	for name, text := range s.Options {
		if e.hidden[name] {
			s.Options[name] = digest(text)
		} else {
			s.Options[name] = option.MaskURL(text)
		}
	}
	return s
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256:" + hex.EncodeToString(sum[:8])
}

// Hash returns the fingerprint as a short text: runs of one hash write the
// same records to the same place.
func (j *Job) Hash() string {
	data, err := json.Marshal(j.Fingerprint())
	if err != nil {
		panic(fmt.Sprintf("job: texts do not marshal: %v", err))
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// Diff says what differs from an older fingerprint, each a phrase such as
// `sink option "table" was "a" and is "b"`; empty when nothing does.
func (j *Job) Diff(old Fingerprint) []string {
	now := j.Fingerprint()
	diffs := diffSides("source", old.Source, now.Source)
	diffs = append(diffs, diffSides("sink", old.Sink, now.Sink)...)
	if !slices.Equal(old.Columns, now.Columns) {
		diffs = append(diffs, fmt.Sprintf("columns was %s and is %s", columnsText(old.Columns), columnsText(now.Columns)))
	}
	if old.Where != now.Where {
		diffs = append(diffs, fmt.Sprintf("where was %s and is %s", shown(old.Where, old.Where != ""), shown(now.Where, now.Where != "")))
	}
	return diffs
}

func diffSides(side string, old, now SidePrint) []string {
	if old.Connector != now.Connector {
		return []string{fmt.Sprintf("the %s was %s and is %s", side, old.Connector, now.Connector)}
	}
	names := maps.Clone(now.Options)
	if names == nil {
		names = map[string]string{}
	}
	maps.Copy(names, old.Options)
	var diffs []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		a, hadA := old.Options[name]
		b, hasB := now.Options[name]
		switch {
		case a == b && hadA == hasB:
		case strings.HasPrefix(a, "sha256:") && strings.HasPrefix(b, "sha256:"):
			diffs = append(diffs, fmt.Sprintf("%s option %q has another value (it is not shown)", side, name))
		default:
			diffs = append(diffs, fmt.Sprintf("%s option %q was %s and is %s", side, name, shown(a, hadA), shown(b, hasB)))
		}
	}
	return diffs
}

func columnsText(columns []string) string {
	if len(columns) == 0 {
		return "not given"
	}
	return "[" + strings.Join(columns, ", ") + "]"
}

func shown(text string, given bool) string {
	switch {
	case !given:
		return "not given"
	case strings.HasPrefix(text, "sha256:"):
		return "a hidden value"
	}
	return fmt.Sprintf("%q", text)
}
