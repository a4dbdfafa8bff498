package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// Finish implements connector.Sink: recorded segments are put together in
// split order and renamed (exactness rule 9). It can be called again after a
// crash at any point of it.
func (s *Sink) Finish(ctx context.Context, run connector.Run, states []connector.SplitState) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.target.standard {
		return s.stdout.finish(s)
	}
	for _, state := range states {
		if !state.Done {
			return connector.Errorf(connector.Fatal, "split %d is not done and the run is to be finished", state.Split)
		}
	}
	if err := s.closeIdle(); err != nil {
		return err
	}
	staging := s.target.staging(run.ID)
	if _, err := s.cfg.FS.Stat(filepath.Join(staging, finishedName)); err == nil {
		s.setFinished(run.ID)
		return nil
	}
	if gone, err := s.alreadyGone(staging, states); gone || err != nil {
		return err
	}
	m, err := readManifest(s.cfg.FS, staging)
	if err != nil {
		return err
	}
	if m == nil {
		if m, err = s.settle(ctx, run, staging, states); err != nil {
			return err
		}
	}
	s.cfg.Failpoint("before-rename")
	if err := m.apply(s.cfg.FS, staging, s.target.dir, s.cfg.Failpoint); err != nil {
		return err
	}
	if err := s.markFinished(staging); err != nil {
		return err
	}
	s.setFinished(run.ID)
	s.cfg.Failpoint("after-finish")
	return nil
}

// alreadyGone reports whether the run's own folder was removed after the run
// had been finished. That of a run with records is never missing before.
func (s *Sink) alreadyGone(staging string, states []connector.SplitState) (bool, error) {
	_, err := s.cfg.FS.Stat(staging)
	if err == nil {
		return false, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	var written int64
	for _, state := range states {
		for _, seg := range state.Segments {
			written += seg.Length
		}
	}
	if written == 0 {
		// It may never have been made.
		return false, storage.MakeDir(s.cfg.FS, staging)
	}
	size, err := s.visibleSize()
	if err != nil {
		return false, err
	}
	if size < written {
		return false, connector.Errorf(connector.Fatal,
			"%s is gone with what the run had written, and %s has not got it: begin anew with --restart", staging, s.target.path)
	}
	return true, nil
}

// visibleSize returns how large the file is, or the folder's part files together.
func (s *Sink) visibleSize() (int64, error) {
	if !s.target.folder {
		info, err := s.cfg.FS.Stat(s.target.path)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}
	parts, err := s.parts()
	var size int64
	for _, p := range parts {
		size += p.size
	}
	return size, err
}

// part is a part file in the target's folder.
type part struct {
	name   string
	number int
	size   int64
}

func (s *Sink) parts() ([]part, error) {
	entries, err := s.cfg.FS.ReadDir(s.target.dir)
	if err != nil {
		return nil, err
	}
	var parts []part
	for _, e := range entries {
		n := partNumber(e.Name(), s.cfg.Format.Suffix())
		if n == 0 || e.IsDir() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part{e.Name(), n, info.Size()})
	}
	return parts, nil
}

// settle decides what becomes visible, copies what has to be copied, and
// writes it down durably.
func (s *Sink) settle(ctx context.Context, run connector.Run, staging string, states []connector.SplitState) (*manifest, error) {
	files, err := s.collect(staging, states)
	if err != nil {
		return nil, err
	}
	a := &assembler{sink: s, staging: staging, header: s.cfg.Format.NewEncoder(s.schema).Header(nil)}
	if a.headerLength, err = a.storedHeader(); err != nil {
		return nil, err
	}
	if s.rules.countUnrecorded {
		if files, err = s.collectAll(staging, a.headerLength); err != nil {
			return nil, err
		}
	}
	m := &manifest{}
	if s.target.folder {
		err = s.settleFolder(ctx, run, a, files, m)
	} else {
		err = s.settleFile(ctx, a, files, states, m)
	}
	if err != nil {
		return nil, err
	}
	if err := s.cfg.FS.SyncDir(staging); err != nil || s.rules.noManifest {
		return m, err
	}
	return m, m.write(s.cfg.FS, staging)
}

func (s *Sink) settleFile(ctx context.Context, a *assembler, files []*recorded, states []connector.SplitState, m *manifest) error {
	out := output{To: filepath.Base(s.target.path)}
	var err error
	if len(files) == 1 && files[0].whole(a.headerLength) && files[0].inOrder() {
		out.From = files[0].name
		out.Size, err = a.endWhole(files[0])
	} else {
		var segments []connector.Segment
		for _, state := range inSplitOrder(states) {
			segments = append(segments, state.Segments...)
		}
		out.From, out.Size, err = a.assemble(ctx, segments)
	}
	m.Outputs = append(m.Outputs, out)
	return err
}

func (s *Sink) settleFolder(ctx context.Context, run connector.Run, a *assembler, files []*recorded, m *manifest) error {
	appends := s.cfg.Options.Mode == "append"
	old, err := s.parts()
	if err != nil {
		return err
	}
	first, unique := 1, ""
	if appends {
		unique = run.ID[:min(8, len(run.ID))]
		for _, p := range old {
			first = max(first, p.number+1)
		}
	}
	names := map[string]bool{}
	add := func(from string, size int64) {
		to := s.target.partName(first+len(m.Outputs), unique)
		names[to] = true
		m.Outputs = append(m.Outputs, output{From: from, To: to, Size: size})
	}
	for _, f := range files {
		var from string
		var size int64
		if f.whole(a.headerLength) {
			from = f.name
			size, err = a.endWhole(f)
		} else {
			from, size, err = a.assemble(ctx, f.segments)
		}
		if err != nil {
			return err
		}
		add(from, size)
	}
	if len(files) == 0 && !appends {
		from, size, err := a.assemble(ctx, nil)
		if err != nil {
			return err
		}
		add(from, size)
	}
	for _, p := range old {
		if !appends && !names[p.name] {
			m.Remove = append(m.Remove, p.name)
		}
	}
	return nil
}

// markFinished leaves of the run's own folder the mark that it is finished. Once
// the mark is there another run beside us may take the folder away.
func (s *Sink) markFinished(staging string) error {
	if err := s.cfg.FS.Rename(filepath.Join(staging, manifestName), filepath.Join(staging, finishedName)); err != nil {
		return fmt.Errorf("mark the run as finished: %w", err)
	}
	if err := s.leaveMark(staging); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// leaveMark makes the mark durable and removes all else of the folder.
func (s *Sink) leaveMark(staging string) error {
	fsys := s.cfg.FS
	if err := fsys.SyncDir(staging); err != nil {
		return err
	}
	entries, err := fsys.ReadDir(staging)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == finishedName {
			continue
		}
		if err := storage.RemoveAll(fsys, filepath.Join(staging, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func inSplitOrder(states []connector.SplitState) []connector.SplitState {
	sorted := slices.Clone(states)
	slices.SortStableFunc(sorted, func(a, b connector.SplitState) int { return cmp.Compare(a.Split, b.Split) })
	return sorted
}
