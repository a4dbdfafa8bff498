package local_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/csv"
	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/internal/storage/crashfs"
	"github.com/leatdata/leat/job"
)

// machine is what a job runs on: a disk that crashes leave behind, and, if the
// target is a database, that one elsewhere.
type machine struct {
	t    *testing.T
	fs   *crashfs.FS
	over func(storage.FS) storage.FS // lies about the disk, nil for none
	sink string
	db   *database
	// named is the file that errors.dirty names, "" for none.
	named string

	mu     sync.Mutex
	tokens map[connector.Token]bool
	before connector.Token // the highest of the starts before this one
	fault  string          // a token that came when it must not
	writes int
}

// alive fails once the process has crashed.
func (m *machine) alive() error {
	_, err := m.fs.Stat("/")
	return err
}

func (m *machine) disk() storage.FS {
	if m.over != nil {
		return m.over(m.fs)
	}
	return m.fs
}

// registry has the scripted ends; each sink is a slowSink.
func (m *machine) registry() *connector.Registry {
	r, err := connector.NewRegistry(
		&connector.Definition{
			Name: "counting",
			Source: &connector.SourceDef{
				Options: func() any { return new(struct{}) },
				New:     func(any, connector.SourceEnv) (connector.Source, error) { return counting{}, nil },
			},
		},
		&connector.Definition{
			Name: "database",
			Sink: &connector.SinkDef{
				Options: func() any { return new(struct{}) },
				New: func(any, connector.SinkEnv) (connector.Sink, error) {
					return &slowSink{&client{m.db, m.alive}, m}, nil
				},
			},
		},
		&connector.Definition{
			Name: "csv",
			Sink: &connector.SinkDef{
				Options: func() any { return new(csv.SinkOptions) },
				New: func(o any, env connector.SinkEnv) (connector.Sink, error) {
					s, err := csv.NewSink(m.disk(), io.Discard, o.(*csv.SinkOptions), env)
					return &slowSink{s, m}, err
				},
			},
		},
	)
	if err != nil {
		m.t.Fatal(err)
	}
	return r
}

// start runs the job as a process that starts; restart gives the run before up.
func (m *machine) start(restart bool) (local.Summary, error) {
	registry := m.registry()
	text := "name: scripted\nsource: {counting: {}}\nsink: " + m.sink + `
columns: [id, word, {name: small, from: id, cast: int8}]
parallelism: 2
errors: {records: 1000, dirty: ` + strconv.Quote(m.named) + `}
checkpoint: {interval: 50ms}
`
	j, err := job.Parse([]byte(text), "job.yaml", job.Vars{}, registry)
	if err != nil {
		m.t.Fatal(err)
	}
	for token := range m.tokens {
		m.before = max(m.before, token)
	}
	lock := func(string) (func(), error) { return func() {}, m.alive() }
	return local.New(local.Deps{Registry: registry, FS: m.disk(), Lock: lock}).Run(m.t.Context(), j, local.Options{StateDir: "/state", Restart: restart})
}

// claimed checks that a token comes once, and is of a higher epoch than all of
// earlier starts.
func (m *machine) claimed(token connector.Token) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tokens[token] || token>>24 <= m.before>>24 {
		m.fault = fmt.Sprintf("token %s comes again, after %s", token, m.before)
	}
	m.tokens[token] = true
}

// breaks makes some writes fail, so that attempts are made again.
func (m *machine) breaks() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	return m.writes%12 == 5
}

// slowSink takes its time for each write, so that there are commits within a
// split, and fails some.
type slowSink struct {
	connector.Sink
	m *machine
}

// Claim implements connector.Sink.
func (s *slowSink) Claim(ctx context.Context, a connector.Attempt) (connector.Writer, connector.SplitState, error) {
	s.m.claimed(a.Token)
	w, st, err := s.Sink.Claim(ctx, a)
	if w != nil {
		w = &slowWriter{w, s.m}
	}
	return w, st, err
}

type slowWriter struct {
	connector.Writer
	m *machine
}

// Write implements connector.Writer.
func (w *slowWriter) Write(ctx context.Context, b *batch.Batch) error {
	timer := time.NewTimer(10 * time.Millisecond)
	defer timer.Stop()
	<-timer.C
	if err := w.Writer.Write(ctx, b); err != nil {
		return err
	}
	if w.m.breaks() {
		return connector.Errorf(connector.Retryable, "the connection broke")
	}
	return nil
}

// isDirty says which records are.
func (m *machine) isDirty(id int) bool {
	return rejectedByReader(id) || id > 127 || m.db != nil && rejectedByDatabase(id)
}

// problem says what is wrong after a job that is done; sum is nil when its
// process crashed after that.
func (m *machine) problem(sum *local.Summary) string {
	if m.fault != "" {
		return m.fault
	}
	var clean, dirty []int
	for id := 1; id <= records; id++ {
		if m.isDirty(id) {
			dirty = append(dirty, id)
		} else {
			clean = append(clean, id)
		}
	}
	rows, err := m.rows()
	if err != nil || !slices.Equal(rows, clean) {
		return fmt.Sprintf("the target has %v, %v, want %v", rows, err, clean)
	}
	kept, err := m.dirty()
	if err != nil || !slices.Equal(kept, dirty) {
		return fmt.Sprintf("kept as dirty are %v, %v, want %v", kept, err, dirty)
	}
	if sum != nil && (sum.State != jobmaster.DoneWithDirty || sum.Read != records || sum.Written != int64(len(clean)) || sum.Dirty != int64(len(dirty))) {
		return fmt.Sprintf("the summary is %+v", *sum)
	}
	return ""
}

// leftover says what is left beside the result of a job that has ended.
func (m *machine) leftover() string {
	if m.db != nil {
		return ""
	}
	entries, err := m.fs.ReadDir("/out")
	if err != nil || slices.ContainsFunc(entries, fs.DirEntry.IsDir) {
		return fmt.Sprintf("left beside the result: %v, %v", entries, err)
	}
	return ""
}

// rows returns the ids in the target, in order.
func (m *machine) rows() ([]int, error) {
	if m.db != nil {
		if open := m.db.open(); len(open) > 0 {
			return nil, fmt.Errorf("runs %v are still open", open)
		}
		return slices.Sorted(slices.Values(m.db.rows)), nil
	}
	var ids []int
	entries, err := m.fs.ReadDir("/out")
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := storage.ReadFile(m.fs, "/out/"+e.Name())
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(text)) {
			first, _, _ := strings.Cut(line, ",")
			if id, err := strconv.Atoi(first); err == nil {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids, err
}

// dirty returns the ids of the dirty records that were kept, in order.
func (m *machine) dirty() ([]int, error) {
	name := m.named
	if name == "" {
		name = "/state/scripted/dirty.jsonl"
	}
	text, err := storage.ReadFile(m.fs, name)
	if err != nil {
		return nil, err
	}
	var ids []int
	for line := range strings.Lines(string(text)) {
		var l struct {
			Reason string
			Record struct{ ID string }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			return nil, err
		}
		id, err := strconv.Atoi(l.Record.ID)
		if err != nil || l.Reason == "" {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, nil
}

// done reports whether the state on the disk says that the job is done.
func (m *machine) done() (bool, error) {
	entries, err := m.fs.ReadDir("/state/scripted")
	if err != nil {
		return false, nil //nolint:nilerr // there is no state yet
	}
	var last string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "state-") && filepath.Ext(e.Name()) == ".json" {
			last = max(last, e.Name())
		}
	}
	if last == "" {
		return false, nil
	}
	raw, err := storage.ReadFile(m.fs, "/state/scripted/"+last)
	if err != nil {
		return false, err
	}
	var st struct {
		Current struct{ State jobmaster.State }
	}
	if err := json.Unmarshal(raw, &st); err != nil {
		return false, fmt.Errorf("%s: %w", last, err)
	}
	return st.Current.State.Outcome == jobmaster.DoneWithDirty, nil
}
