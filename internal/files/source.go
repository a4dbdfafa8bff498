package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// SchemaFunc finds the columns from the start of a file's text, which is the
// whole text when whole. ok is false when head is too short to tell.
type SchemaFunc func(head []byte, whole bool) (schema *batch.Schema, ok bool, err error)

// SourceConfig is what a Source is made of.
type SourceConfig struct {
	FS      storage.FS
	Format  Format
	Options SourceOptions
	// Schema is asked for each file; all must have the columns of the first.
	Schema SchemaFunc
	Stdin  io.Reader
	Log    *slog.Logger
}

// Source is a connector.Source of records in text files, or in standard
// input. Create it with NewSource.
type Source struct {
	cfg      SourceConfig
	encoding string
	listing  *Listing

	mu     sync.Mutex
	schema *batch.Schema
	stdin  *stdin
}

var (
	_ connector.Source    = (*Source)(nil)
	_ connector.Describer = (*Source)(nil)
)

// NewSource checks the options and returns a source; it opens nothing.
func NewSource(cfg SourceConfig) (*Source, error) {
	encoding, err := encodingName(cfg.Options.Encoding)
	if err != nil {
		return nil, err
	}
	s := &Source{cfg: cfg, encoding: encoding, listing: NewListing(cfg.FS, cfg.Options.Path, cfg.Format.Suffix())}
	if cfg.Log == nil {
		s.cfg.Log = slog.New(slog.DiscardHandler)
	}
	if len(cfg.Options.Path) == 0 {
		return nil, connector.Errorf(connector.Usage, "path is not given")
	}
	if slices.Contains(cfg.Options.Path, Standard) {
		if len(cfg.Options.Path) > 1 {
			return nil, connector.Errorf(connector.Usage, "standard input (-) cannot be read together with files")
		}
		s.stdin = newStdin(cfg.Stdin)
	}
	return s, nil
}

// IsStandard reports whether standard input is read.
func (s *Source) IsStandard() bool { return s.stdin != nil }

// Schema implements connector.Source: the columns of the first file that
// holds anything.
func (s *Source) Schema(ctx context.Context) (*batch.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.schemaLocked(ctx)
}

func (s *Source) schemaLocked(ctx context.Context) (*batch.Schema, error) {
	if s.schema != nil {
		return s.schema, nil
	}
	var err error
	if s.stdin != nil {
		s.schema, err = s.stdinSchema(ctx)
		return s.schema, err
	}
	files, err := s.listing.Files()
	if err != nil {
		return nil, err
	}
	first := files[0].Path
	for _, f := range files {
		if f.Size > 0 {
			first = f.Path
			break
		}
	}
	s.schema, _, err = s.look(ctx, first)
	return s.schema, err
}

// Files returns the paths that are read, in order; none for standard input.
func (s *Source) Files() ([]string, error) {
	if s.stdin != nil {
		return nil, nil
	}
	files, err := s.listing.Files()
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	return paths, err
}

// Open implements connector.Source.
func (s *Source) Open(ctx context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	return s.OpenAs(ctx, split, pos, s.cfg.Format.NewDecoder(schema))
}

// OpenAs opens a split for a decoder of the caller's own.
func (s *Source) OpenAs(ctx context.Context, split connector.Split, pos connector.Position, d Decoder) (connector.Reader, error) {
	sp, err := parseSpec(split.Spec)
	if err != nil {
		return nil, err
	}
	at, err := parsePosition(pos, sp)
	if err != nil {
		return nil, err
	}
	in, at, err := s.openInput(ctx, sp, at)
	if err != nil {
		return nil, err
	}
	name := sp.Path
	if sp.Stdin {
		name = stdinName
	}
	r := &reader{
		in: in, decoder: d, name: name, lineOf: name + ": line", at: at, end: sp.End, seekable: !sp.Stdin, live: sp.Stdin,
		want: firstRead, utf8: newValidator(), encoding: s.encoding,
	}
	return r, nil
}

func (s *Source) openInput(ctx context.Context, sp *spec, at place) (input, place, error) {
	if sp.Stdin {
		if s.stdin == nil {
			return nil, at, connector.Errorf(connector.Usage, "the run reads standard input, and path is no longer -")
		}
		return s.openStdin()
	}
	if s.stdin != nil {
		return nil, at, connector.Errorf(connector.Usage, "the run reads files, and path is now -")
	}
	f, err := s.cfg.FS.Open(sp.Path)
	if err != nil {
		return nil, at, err
	}
	in, err := s.openFile(ctx, f, sp, at)
	if err != nil {
		return nil, at, errors.Join(err, f.Close())
	}
	return in, at, nil
}

func (s *Source) openFile(ctx context.Context, f storage.File, sp *spec, at place) (input, error) {
	if err := sp.Check(f); err != nil {
		return nil, err
	}
	if !sp.Text {
		return &fileRange{f: f, id: sp.Identity, offset: at.offset, end: sp.End}, nil
	}
	text, err := s.text(f, sp.Path, sp.Compression)
	if err != nil {
		return nil, err
	}
	in := &textFile{f: f, id: sp.Identity, text: text}
	return in, in.skip(ctx, at.offset)
}

// text returns the decoded text of a stream from its start: decompressed, in
// UTF-8, without a byte order mark.
func (s *Source) text(r io.Reader, name string, c Compression) (io.Reader, error) {
	r, err := c.reader(r)
	if err != nil {
		return nil, fmt.Errorf("%s as %s: %w", name, c, err)
	}
	if s.encoding != utf8Name {
		if r, err = transcode(r, name, s.encoding); err != nil {
			return nil, err
		}
	}
	return stripBOM(r, name)
}

// Close implements connector.Source.
func (s *Source) Close() error {
	if s.stdin != nil {
		return s.stdin.Close()
	}
	return nil
}
