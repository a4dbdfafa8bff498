package parquet

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
	"github.com/leatdata/leat/internal/files"
	"github.com/leatdata/leat/internal/storage"
)

// Source reads Parquet files by their row groups.
type Source struct {
	fs      storage.FS
	options SourceOptions
	wanted  []string // the job's columns, nil for all
	listing *files.Listing

	mu     sync.Mutex
	schema *batch.Schema
}

var (
	_ connector.Source     = (*Source)(nil)
	_ connector.Describer  = (*Source)(nil)
	_ connector.Identifier = (*Source)(nil)
)

// NewSource makes a source over a file system; it opens nothing.
func NewSource(fs storage.FS, o *SourceOptions, env connector.SourceEnv) (*Source, error) {
	if err := o.Validate(); err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	if len(o.Path) == 0 {
		return nil, connector.Errorf(connector.Usage, "path is not given")
	}
	return &Source{fs: fs, options: *o, wanted: env.Columns, listing: files.NewPlainListing(fs, o.Path, suffix)}, nil
}

// Identify implements connector.Identifier.
func (s *Source) Identify(context.Context) (connector.Identity, error) { return s.listing.Identify() }

// Close implements connector.Source.
func (s *Source) Close() error { return nil }

// Schema implements connector.Source: the columns of the first file, of those
// that the job names.
func (s *Source) Schema(context.Context) (*batch.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.schema != nil {
		return s.schema, nil
	}
	listed, err := s.listing.Files()
	if err != nil {
		return nil, err
	}
	o, err := s.open(listed[0].Path)
	if err != nil {
		return nil, err
	}
	s.schema = o.schema
	return s.schema, o.file.Close()
}

// opened is a file whose footer was read.
type opened struct {
	file   storage.File
	id     files.Identity
	footer *format.Footer
	nodes  []*node
	leaves int
	// schema is of the columns that the job wants, and chosen their nodes.
	schema *batch.Schema
	chosen []*node
}

// open opens a file and reads its footer.
func (s *Source) open(path string) (*opened, error) {
	f, err := s.fs.Open(path)
	if err != nil {
		return nil, err
	}
	o := &opened{file: f}
	if o.id, err = files.IdentifyFile(f, path); err != nil {
		return nil, errors.Join(storage.Doing("read", path, err), f.Close())
	}
	if err = o.load(s.wanted); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return o, nil
}

// tailSize is what stands behind a footer: its length, and the magic.
const tailSize = 4 + len(format.Magic)

// load reads the footer and chooses the columns.
func (o *opened) load(wanted []string) error {
	var tail [tailSize]byte
	size := o.id.Size
	if size < int64(len(format.Magic)+tailSize) {
		return errors.New("it is too short to be a Parquet file")
	}
	if err := readFull(o.file, tail[:], size-int64(tailSize)); err != nil {
		return err
	}
	switch string(tail[4:]) {
	case format.Magic:
	case format.EncryptedMagic:
		return errors.New("it is encrypted, which is not supported")
	default:
		return o.foreign()
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if length > size-int64(tailSize)-int64(len(format.Magic)) {
		return fmt.Errorf("its metadata of %d bytes does not fit into its %d bytes", length, size)
	}
	data := make([]byte, length)
	if err := readFull(o.file, data, size-int64(tailSize)-length); err != nil {
		return err
	}
	var err error
	if o.footer, err = format.ParseFooter(data); err != nil {
		return err
	}
	if o.footer.Encrypted {
		return errors.New("it is encrypted, which is not supported")
	}
	if o.nodes, o.leaves, err = tree(o.footer.Schema); err != nil {
		return err
	}
	return o.choose(wanted)
}

// foreign says what else than a Parquet file it may be.
func (o *opened) foreign() error {
	var head [4]byte
	if err := readFull(o.file, head[:], 0); err != nil {
		return err
	}
	if c := files.Detect(head[:]); c != files.Plain {
		return connector.Errorf(connector.Usage, "it is compressed as a whole (%s), which a Parquet file is not, for it is compressed inside: unpack it", c)
	}
	return errors.New("it is not a Parquet file, or is cut off: it does not end in PAR1")
}

// choose finds the job's columns.
func (o *opened) choose(wanted []string) error {
	o.schema = &batch.Schema{}
	seen := map[string]bool{}
	for _, n := range o.nodes {
		if seen[n.Name] {
			return connector.Errorf(connector.Usage, "it has two columns named %q", n.Name)
		}
		seen[n.Name] = true
		if wanted != nil && !slices.Contains(wanted, n.Name) {
			continue
		}
		f, err := n.field()
		if err != nil {
			return err
		}
		o.schema.Fields = append(o.schema.Fields, f)
		o.chosen = append(o.chosen, n)
	}
	if len(o.chosen) == 0 {
		return connector.Errorf(connector.Usage, "it has none of the columns that the job names; it has %s and no more", named(o.nodes))
	}
	return nil
}

func named(nodes []*node) string {
	var text strings.Builder
	for i, n := range nodes {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(n.Name)
	}
	return text.String()
}

// sameColumns compares the columns of a file with those of the first. Whether
// one may be NULL may differ.
func sameColumns(first, schema *batch.Schema, path string) error {
	const wayOut = "; copy files of other columns by a job of their own, or name in columns those that all have alike"
	for i := range max(len(first.Fields), len(schema.Fields)) {
		switch {
		case i >= len(schema.Fields):
			return connector.Errorf(connector.Permanent, "%s has other columns than the first file: %q is missing%s", path, first.Fields[i].Name, wayOut)
		case i >= len(first.Fields):
			return connector.Errorf(connector.Permanent, "%s has other columns than the first file: %q is one more%s", path, schema.Fields[i].Name, wayOut)
		}
		if a, b := first.Fields[i], schema.Fields[i]; a.Name != b.Name || !a.Type.Equal(b.Type) {
			return connector.Errorf(connector.Permanent,
				"%s has other columns than the first file: column %d is %s %s, not %s %s%s", path, i+1, b.Name, b.Type, a.Name, a.Type, wayOut)
		}
	}
	return nil
}

// Open implements connector.Source.
func (s *Source) Open(ctx context.Context, split connector.Split, pos connector.Position) (connector.Reader, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return nil, err
	}
	sp, err := parseSpec(split.Spec)
	if err != nil {
		return nil, err
	}
	f, err := s.fs.Open(sp.Path)
	if err != nil {
		return nil, err
	}
	o := &opened{file: f, id: sp.Identity}
	err = sp.Check(f)
	if err == nil {
		err = o.load(s.wanted)
		if err != nil {
			err = fmt.Errorf("%s: %w", sp.Path, err)
		}
	}
	if err == nil {
		err = sameColumns(schema, o.schema, sp.Path)
	}
	var r *reader
	if err == nil {
		r, err = o.reader(sp, pos)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

// reader returns a reader of row groups from a position on.
func (o *opened) reader(sp *spec, pos connector.Position) (*reader, error) {
	r := &reader{file: o.file, id: o.id, footer: o.footer, last: sp.To, width: len(o.chosen), utf8: true, first: 1}
	var err error
	if r.group, r.row, err = parsePosition(pos, sp, o.footer); err != nil {
		return nil, err
	}
	for i := range r.group {
		r.first += o.footer.Groups[i].Rows
	}
	for i, n := range o.chosen {
		if o.schema.Fields[i].Type.Kind == batch.Bytes {
			r.utf8 = false
		}
		if n.flat() {
			c := &flatColumn{chunk: r.newChunk(n), index: i}
			c.length = c.values.size
			if n.Type == format.Boolean {
				c.length = 1
			}
			r.flat = append(r.flat, c)
			continue
		}
		c := &nestedColumn{root: n, index: i, byLeaf: map[int]*chunk{}}
		r.addLeaves(c, n)
		r.nested = append(r.nested, c)
	}
	return r, nil
}

func (r *reader) newChunk(n *node) chunk {
	t, err := typeOf(&n.Element)
	if err != nil {
		panic("parquet: " + err.Error()) // node.field has asked for all types
	}
	return chunk{leaf: n, dec: &r.dec, values: newValues(&n.Element), kind: t.Kind, size: windowOf(r.width)}
}

func (r *reader) addLeaves(c *nestedColumn, n *node) {
	if n.leaf >= 0 {
		leaf := r.newChunk(n)
		c.leaves = append(c.leaves, &leaf)
		c.byLeaf[n.leaf] = &leaf
	}
	for _, p := range n.parts {
		r.addLeaves(c, p)
	}
}

// Describe implements connector.Describer.
func (s *Source) Describe(context.Context) ([]string, error) {
	listed, err := s.listing.Files()
	if err != nil {
		return nil, err
	}
	var size int64
	for _, f := range listed {
		size += f.Size
	}
	return []string{
		fmt.Sprintf("files: %d, of %d bytes, the first is %s", len(listed), size, listed[0].Path),
		"splits: by row groups, small ones together",
	}, nil
}

const (
	// minSplit and maxSplit bound the stored size of a split that nobody chose.
	minSplit = 8 << 20
	maxSplit = 64 << 20
	// stepFiles and stepSplits bound a step of the enumeration.
	stepFiles  = 64
	stepSplits = 256
)

// cursor is where the enumeration goes on: at a row group of a file.
type cursor struct {
	Path  string          `json:"path"`
	Group int             `json:"group,omitempty"`
	ID    *files.Identity `json:"id,omitempty"`
}

// Enumerate implements connector.Source. Files without rows have no split.
func (s *Source) Enumerate(ctx context.Context, from connector.Cursor, first connector.SplitID, want connector.Want) (connector.Enumeration, error) {
	schema, err := s.Schema(ctx)
	if err != nil {
		return connector.Enumeration{}, err
	}
	listed, err := s.listing.Files()
	if err != nil {
		return connector.Enumeration{}, err
	}
	i, at, err := resume(listed, from)
	if err != nil {
		return connector.Enumeration{}, err
	}
	var e connector.Enumeration
	size := s.splitSize(listed, want)
	for read := 0; i < len(listed); i++ {
		if err := ctx.Err(); err != nil {
			return connector.Enumeration{}, err
		}
		if read++; read > stepFiles || len(e.Splits) >= stepSplits {
			at = cursor{Path: listed[i].Path}
			break
		}
		if at, err = s.splitFile(&e, schema, listed[i].Path, at, first, size); err != nil {
			return connector.Enumeration{}, err
		}
		if at.ID != nil {
			break
		}
	}
	if i == len(listed) {
		e.Done = true
		return e, nil
	}
	text, err := json.Marshal(at)
	e.Next = connector.Cursor(text)
	return e, err
}

func resume(listed []files.Listed, from connector.Cursor) (int, cursor, error) {
	var at cursor
	if from == "" {
		return 0, at, nil
	}
	if err := json.Unmarshal([]byte(from), &at); err != nil {
		return 0, at, fmt.Errorf("cursor %q: %w", from, err)
	}
	for i := range listed {
		if listed[i].Path == at.Path {
			return i, at, nil
		}
	}
	return 0, at, connector.Errorf(connector.Permanent,
		"%s is no longer there; put it back as it was, with its time of change too (cp -p), or begin anew with --restart", at.Path)
}

// splitSize is the stored size near which a split ends.
func (s *Source) splitSize(listed []files.Listed, want connector.Want) int64 {
	if want.Ordered {
		return 1 << 62 // a split is a whole file
	}
	if size := int64(s.options.SplitSize); size > 0 {
		return size
	}
	var total int64
	for _, f := range listed {
		total += f.Size
	}
	return min(max(total/int64(4*max(1, want.Parallelism)), minSplit), maxSplit)
}

// splitFile adds the splits of a file from a cursor that stands in it or
// before it. The cursor it returns has no ID when the file is done.
func (s *Source) splitFile(e *connector.Enumeration, schema *batch.Schema, path string, at cursor, first connector.SplitID, size int64) (_ cursor, err error) {
	o, err := s.open(path)
	if err != nil {
		return cursor{}, err
	}
	defer func() { err = errors.Join(err, o.file.Close()) }()
	if err := sameColumns(schema, o.schema, path); err != nil {
		return cursor{}, err
	}
	if at.ID != nil && *at.ID != o.id {
		return cursor{}, o.id.Changed("it is not the file whose first splits have been handed out")
	}
	groups := o.footer.Groups
	for from := min(at.Group, len(groups)); from < len(groups); {
		if len(e.Splits) >= stepSplits {
			return cursor{Path: path, Group: from, ID: &o.id}, nil
		}
		to, bytes, rows := from, int64(0), int64(0)
		for to < len(groups) && (to == from || bytes < size) {
			bytes += max(0, groups[to].Compressed())
			rows += groups[to].Rows
			to++
		}
		if rows > 0 {
			sp := spec{Identity: o.id, From: from, To: to}
			label := filepath.Base(path)
			if from > 0 {
				label = fmt.Sprintf("%s from row group %d", label, from)
			}
			e.Splits = append(e.Splits, connector.Split{
				ID: first + connector.SplitID(len(e.Splits)), Spec: sp.encode(), Rows: rows, Label: label,
			})
		}
		from = to
	}
	return cursor{}, nil
}
