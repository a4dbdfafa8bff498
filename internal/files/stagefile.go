package files

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"

	"github.com/leatdata/leat/internal/storage"
)

// stageFile is a file of a run's own that the attempts of one slot fill, one
// after another. What is beyond its durable length counts for nothing. It
// begins with the format's header, as each file of it does.
type stageFile struct {
	name    string
	f       storage.File
	out     *bufio.Writer // between compressor and f; nil when plain
	member  compressor
	open    bool  // a member has begun and not ended
	size    int64 // written to f
	durable int64 // the length at the last sync
	header  int64 // length of the header
	started int64 // the system has been asked to write so far
}

// writebackSize is how much is written before the system is asked to put it
// on disk.
const writebackSize = 4 << 20

// createStageFile makes a file that no other attempt has, header included.
func createStageFile(fsys storage.FS, dir, name string, c Compression, header []byte) (*stageFile, error) {
	path := filepath.Join(dir, name)
	f, err := fsys.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	s := &stageFile{name: name, f: f}
	if c != Plain {
		s.out = bufio.NewWriterSize(counter{s}, spillSize)
		s.member, err = c.writer(s.out)
	}
	if err == nil && len(header) > 0 {
		err = errors.Join(s.write(header), s.end())
		s.header, s.durable = s.size, s.size
	}
	if err == nil {
		err = fsys.SyncDir(dir)
	}
	if err != nil {
		return nil, errors.Join(storage.Doing("create", path, err), f.Close())
	}
	return s, nil
}

// counter writes to the file and counts.
type counter struct{ s *stageFile }

// Write implements io.Writer.
func (c counter) Write(p []byte) (int, error) {
	n, err := c.s.f.Write(p)
	c.s.size += int64(n)
	c.s.startWriteback()
	return n, err
}

// startWriteback has the system write what is there, a few MiB at a time, so
// that the sync of a commit does not have to wait for all of it.
func (s *stageFile) startWriteback() {
	if s.size-s.started < writebackSize {
		return
	}
	if f, ok := s.f.(storage.WritebackStarter); ok {
		f.StartWriteback(s.started, s.size-s.started)
	}
	s.started = s.size
}

// write adds text to the file.
func (s *stageFile) write(text []byte) error {
	if s.member == nil {
		_, err := counter{s}.Write(text)
		return err
	}
	s.begin()
	_, err := s.member.Write(text)
	return err
}

func (s *stageFile) begin() {
	if !s.open {
		s.member.Reset(s.out)
		s.open = true
	}
}

// end ends the member that is open: what was written can be read by itself.
func (s *stageFile) end() error {
	if !s.open {
		return nil
	}
	s.open = false
	if err := s.member.Close(); err != nil {
		return err
	}
	return s.out.Flush()
}

// sync ends the member and makes all that was written durable.
func (s *stageFile) sync() error {
	if err := s.end(); err != nil {
		return err
	}
	if s.size == s.durable {
		return nil
	}
	if err := s.f.Sync(); err != nil {
		return err
	}
	s.durable = s.size
	return nil
}

// cutBack takes away what is not durable, for good.
func (s *stageFile) cutBack() error {
	if err := s.f.Truncate(s.durable); err != nil {
		return err
	}
	s.size = s.durable
	return s.f.Sync()
}
