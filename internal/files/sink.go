package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// SinkConfig is what a Sink is made of.
type SinkConfig struct {
	FS      storage.FS
	Format  WriteFormat
	Options SinkOptions
	// Schema returns the columns and types that the format writes for those
	// of the input; nil when they are the same.
	Schema func(in *batch.Schema) (*batch.Schema, error)
	// Doubts returns what the format may do to the columns that surprises.
	// untyped are those that came without a type at first, before one was
	// found in their texts; may be nil.
	Doubts func(in *batch.Schema, untyped []string) []string
	// Typed says that the format writes a text and a number differently, so
	// that the input's types are wanted.
	Typed     bool
	Stdout    io.Writer
	Failpoint func(name string)
	Log       *slog.Logger
}

// Sink is a connector.Sink of text files. See the package comment for its
// states. Create it with NewSink.
type Sink struct {
	cfg SinkConfig

	mu     sync.Mutex
	target target
	schema *batch.Schema
	// untyped are the columns that had no type in the first Resolve.
	untyped []string
	// idle are the open files of slots that no attempt has now; all of each is durable.
	idle map[int]*stageFile
	// tokens are the newest attempts' of splits; made counts the files.
	tokens map[connector.SplitID]connector.Token
	made   int
	// closed are the files that this process has written and will not write to again.
	closed map[string]bool
	// staged says that this process has made the run's own folder, or found it.
	staged bool
	// finished is the run whose folder Close may remove.
	finished string
	stdout   *stdout
	rules    breakRules
}

var _ connector.Sink = (*Sink)(nil)

// NewSink returns a sink; it opens nothing.
func NewSink(cfg SinkConfig) (*Sink, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Failpoint == nil {
		cfg.Failpoint = func(string) {}
	}
	if cfg.Options.Path == "" {
		return nil, connector.Errorf(connector.Usage, "path is not given")
	}
	return &Sink{cfg: cfg, idle: map[int]*stageFile{}, closed: map[string]bool{}, tokens: map[connector.SplitID]connector.Token{}, rules: brokenRules()}, nil
}

// Resolve implements connector.Sink.
func (s *Sink) Resolve(_ context.Context, in *batch.Schema) (*connector.Plan, error) {
	t, err := newTarget(s.cfg.FS, s.cfg.Options, s.cfg.Format.Suffix())
	if err != nil {
		return nil, err
	}
	appends := s.cfg.Options.Mode == "append"
	if appends && !t.folder && !t.standard {
		return nil, connector.Errorf(connector.Usage,
			"mode append cannot be had for the one file %s: use mode overwrite, or a folder (%s/), to which part files are added", t.path, strings.TrimSuffix(t.path, t.suffix))
	}
	schema := in
	if s.cfg.Schema != nil {
		if schema, err = s.cfg.Schema(in); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.target, s.schema = t, schema
	if s.untyped == nil {
		s.untyped = untyped(in)
	}
	plan := &connector.Plan{Schema: schema, Guarantee: connector.Staged, Creates: s.cfg.Typed}
	switch {
	case t.standard:
		plan.Guarantee, plan.MaxWriters, plan.Ordered, plan.Stream = connector.AtLeastOnce, 1, true, true
		plan.Statements = []string{"write to standard output"}
		plan.Doubts = []string{"standard output: after a crash some records are written twice"}
		s.stdout = &stdout{w: s.cfg.Stdout}
	case t.folder:
		plan.Statements = []string{"write part files to " + filepath.Join(t.staging("<run>"), "") + ", at the end rename them into " + t.path}
		plan.Doubts, err = s.folderDoubts(t, appends)
	default:
		plan.MaxWriters, plan.Ordered = 1, true
		plan.Statements = []string{"write to " + t.staging("<run>") + ", at the end rename to " + t.path}
	}
	if s.cfg.Doubts != nil {
		plan.Doubts = append(plan.Doubts, s.cfg.Doubts(in, s.untyped)...)
	}
	return plan, err
}

// untyped returns the names of the columns without a type, never nil.
func untyped(in *batch.Schema) []string {
	names := []string{}
	for _, f := range in.Fields {
		if f.Type.Kind == batch.Untyped {
			names = append(names, f.Name)
		}
	}
	return names
}

// folderDoubts tells what stands in a target folder and will be read with the
// records, or replaced.
func (s *Sink) folderDoubts(t target, appends bool) ([]string, error) {
	entries, err := s.cfg.FS.ReadDir(t.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var doubts []string
	parts := 0
	for _, e := range entries {
		switch {
		case partNumber(e.Name(), s.cfg.Format.Suffix()) > 0:
			parts++
		case strings.HasSuffix(e.Name(), goneSuffix):
			// Prepare takes it away.
		case strings.HasPrefix(e.Name(), stagePrefix):
			doubts = append(doubts, fmt.Sprintf("%s holds the folder %s of another run: one that is at work, or was given up", t.path, e.Name()))
		case !e.IsDir() && !appends && hasSuffix(e.Name(), s.cfg.Format.Suffix()):
			doubts = append(doubts, fmt.Sprintf("%s is no part file: it stays beside the new ones", filepath.Join(t.path, e.Name())))
		}
	}
	if parts > 0 && !appends {
		doubts = append(doubts, fmt.Sprintf("%s holds %d part files of an earlier run: at the end they are replaced", t.path, parts))
	}
	return doubts, nil
}

// Prepare implements connector.Sink: it makes the target's folder, and removes
// what given-up and finished runs have left.
func (s *Sink) Prepare(ctx context.Context, run connector.Run) error {
	if err := ctx.Err(); err != nil || s.target.standard {
		return err
	}
	s.cfg.Failpoint("after-prepare")
	if err := storage.MakeDir(s.cfg.FS, s.target.dir); err != nil {
		return err
	}
	if run.Abandoned != "" && run.Abandoned != run.ID {
		if err := s.checkEnding(run); err != nil {
			return err
		}
		if err := storage.RemoveAll(s.cfg.FS, s.target.staging(run.Abandoned)); err != nil {
			return err
		}
	}
	if err := s.removeFinished(run.ID); err != nil {
		return err
	}
	_, err := s.cfg.FS.Stat(filepath.Join(s.target.staging(run.ID), finishedName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		s.setFinished(run.ID)
		err = connector.ErrFinished
	}
	return err
}

// removeFinished removes the folders of other runs that ended between their
// engine's last word and the end of their sink's Close.
func (s *Sink) removeFinished(run string) error {
	entries, err := s.cfg.FS.ReadDir(s.target.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		other, ok := strings.CutPrefix(e.Name(), stagePrefix)
		if !ok || other == run || !e.IsDir() {
			continue
		}
		staging := s.target.staging(other)
		if strings.HasSuffix(other, goneSuffix) {
			if err := storage.RemoveAll(s.cfg.FS, staging); err != nil {
				return err
			}
			continue
		}
		if _, err := s.cfg.FS.Stat(filepath.Join(staging, finishedName)); err != nil {
			continue
		}
		if err := s.removeStaging(staging); err != nil {
			return err
		}
	}
	return nil
}

// removeStaging removes a finished run's folder. It is renamed first: without
// its mark a crash would leave what cannot be told from the folder of a run
// that has just begun.
func (s *Sink) removeStaging(staging string) error {
	gone := staging + goneSuffix
	if err := storage.RemoveAll(s.cfg.FS, gone); err != nil {
		return err
	}
	if err := s.cfg.FS.Rename(staging, gone); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return storage.Doing("remove", staging, err)
	}
	if err := s.cfg.FS.SyncDir(s.target.dir); err != nil {
		return err
	}
	s.cfg.Failpoint("before-removal")
	return storage.RemoveAll(s.cfg.FS, gone)
}

func (s *Sink) setFinished(run string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finished = run
}

// Register implements connector.Sink. A split needs nothing before it is claimed.
func (s *Sink) Register(ctx context.Context, _ connector.Run, _ []connector.Split) error {
	return ctx.Err()
}

// Claim implements connector.Sink. What older attempts write from now on is in
// files of theirs and counts for nothing (exactness rule 9).
func (s *Sink) Claim(ctx context.Context, a connector.Attempt) (connector.Writer, connector.SplitState, error) {
	state := a.State
	if err := ctx.Err(); err != nil || state.Done {
		return nil, state, err
	}
	if !s.newest(a) {
		return nil, state, connector.Errorf(connector.Fenced, "a newer attempt than %s has split %d", a.Token, a.Split.ID)
	}
	state.Split, state.Token = a.Split.ID, a.Token
	if s.target.standard {
		return s.stdout.claim(s, a, state), state, nil
	}
	staging := s.target.staging(a.Run.ID)
	if err := s.makeStaging(staging); err != nil {
		return nil, state, err
	}
	return &writer{encoded: s.encoded(a, state), sink: s, staging: staging, file: s.takeFile(a.Slot)}, state, nil
}

// makeStaging makes the run's own folder, once: one that is gone later has been
// removed by whoever finished the run or gave it up.
func (s *Sink) makeStaging(staging string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.staged {
		err := storage.MakeDir(s.cfg.FS, staging)
		s.staged = err == nil
		return err
	}
	_, err := s.cfg.FS.Stat(staging)
	if errors.Is(err, fs.ErrNotExist) {
		return connector.Errorf(connector.Fenced, "%s is gone: another process has finished the run or given it up, and the state at hand is an old copy; go on with the state of that process, or begin anew with --restart", staging)
	}
	return err
}

// newest notes the attempt as the split's newest, unless this process knows of
// a newer one.
func (s *Sink) newest(a connector.Attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.Token < max(s.tokens[a.Split.ID], a.State.Token) {
		return false
	}
	s.tokens[a.Split.ID] = a.Token
	return true
}

// nextFile numbers the files that this process makes.
func (s *Sink) nextFile() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return s.made
}

// takeFile gives a slot's open file to an attempt, nil when there is none.
func (s *Sink) takeFile(slot int) *stageFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.idle[slot]
	delete(s.idle, slot)
	return f
}

// giveFile takes a file back whose data is all durable.
func (s *Sink) giveFile(slot int, f *stageFile) error {
	s.mu.Lock()
	_, taken := s.idle[slot]
	if !taken {
		s.idle[slot] = f
	}
	s.mu.Unlock()
	if taken {
		return s.closeFile(f)
	}
	return nil
}

// closeFile closes a file for good: all of it up to its durable length stays
// as it is.
func (s *Sink) closeFile(f *stageFile) error {
	if err := f.f.Close(); err != nil {
		return err // it names the file
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed[f.name] = true
	return nil
}

// closeIdle closes the files that are open.
func (s *Sink) closeIdle() error {
	s.mu.Lock()
	idle := s.idle
	s.idle = map[int]*stageFile{}
	s.mu.Unlock()
	var errs []error
	for _, f := range idle {
		errs = append(errs, s.closeFile(f))
	}
	return errors.Join(errs...)
}

// removeStage removes a file of a run's own that nothing points to. It would
// be removed at the end anyway.
func (s *Sink) removeStage(staging, name string) {
	if err := s.cfg.FS.Remove(filepath.Join(staging, name)); err != nil {
		s.cfg.Log.Warn("remove an abandoned file", "file", name, "error", err)
	}
}

// States implements connector.Sink: the engine's stored word counts.
func (s *Sink) States(context.Context, connector.Run) ([]connector.SplitState, error) {
	return nil, nil
}

// Close implements connector.Sink. The engine calls it after it has stored
// that the run is finished: the sink then needs its own mark of it no more.
func (s *Sink) Close() error {
	err := s.closeIdle()
	s.mu.Lock()
	run := s.finished
	s.finished = ""
	s.mu.Unlock()
	if run != "" {
		err = errors.Join(err, s.removeStaging(s.target.staging(run)))
	}
	return err
}
