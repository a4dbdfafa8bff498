package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/storage"
)

// DirtyDir keeps the dirty records of a run: a file of JSON lines per split
// and token. Its methods may be called concurrently for different attempts.
type DirtyDir struct {
	FS   storage.FS
	Path string
}

// partName is the file of one attempt.
func (d DirtyDir) partName(split connector.SplitID, token connector.Token) string {
	return filepath.Join(d.Path, fmt.Sprintf("%06d-%016x.jsonl", split, uint64(token)))
}

// dirtyPart is the file that one attempt writes. It is made by the first record.
type dirtyPart struct {
	dir     DirtyDir
	split   connector.SplitID
	token   connector.Token
	file    storage.File
	buf     []byte
	written int64
	count   int64
	synced  int64
}

func (d DirtyDir) part(split connector.SplitID, token connector.Token) *dirtyPart {
	return &dirtyPart{dir: d, split: split, token: token}
}

// dirtyRecord is a line of the dirty file.
type dirtyRecord struct {
	Split  connector.SplitID `json:"split"`
	Where  string            `json:"where,omitempty"`
	Column string            `json:"column,omitempty"`
	Reason string            `json:"reason"`
	Record map[string]any    `json:"record,omitempty"`
	Raw    any               `json:"raw,omitempty"`
}

// add keeps a record.
func (p *dirtyPart) add(schema *batch.Schema, r batch.Reject) error {
	rec := dirtyRecord{Split: p.split, Where: r.Where, Column: r.Column, Reason: r.Reason}
	names := r.Names
	if names == nil {
		names = schema.Names()
	}
	if r.Raw != nil {
		rec.Raw = dirtyText(r.Raw)
	}
	if r.Values != nil {
		rec.Record = make(map[string]any, len(r.Values))
		for i, v := range r.Values {
			rec.Record[names[i]] = dirtyText(v)
		}
	}
	line, err := json.Marshal(rec)
	if err != nil {
		return fmt.Errorf("keep a dirty record: %w", err)
	}
	p.buf = append(append(p.buf, line...), '\n')
	p.count++
	if len(p.buf) >= 1<<16 {
		return p.flush()
	}
	return nil
}

// dirtyText is a cell for JSON: null, a string, or {"base64": …} for bytes that are no UTF-8.
func dirtyText(cell []byte) any {
	switch {
	case cell == nil:
		return nil
	case utf8.Valid(cell):
		return string(cell)
	default:
		return map[string][]byte{"base64": cell}
	}
}

func (p *dirtyPart) flush() error {
	if len(p.buf) == 0 {
		return nil
	}
	if p.file == nil {
		if err := storage.MakeDir(p.dir.FS, p.dir.Path); err != nil {
			return fmt.Errorf("keep dirty records: %w", err)
		}
		f, err := p.dir.FS.OpenFile(p.dir.partName(p.split, p.token), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
		if err != nil {
			return fmt.Errorf("keep dirty records: %w", err)
		}
		p.file = f
		if err := p.dir.FS.SyncDir(p.dir.Path); err != nil {
			return fmt.Errorf("keep dirty records: %w", err)
		}
	}
	n, err := p.file.Write(p.buf)
	p.written += int64(n)
	p.buf = p.buf[:0]
	if err != nil {
		return fmt.Errorf("keep dirty records: %w", err)
	}
	return nil
}

// sync makes the records so far durable and says what they are. ok is false
// when there are none.
func (p *dirtyPart) sync() (part connector.DirtyPart, ok bool, err error) {
	if err := p.flush(); err != nil {
		return part, false, err
	}
	if p.file == nil {
		return part, false, nil
	}
	if p.synced < p.written {
		if err := p.file.Sync(); err != nil {
			return part, false, fmt.Errorf("keep dirty records: %w", err)
		}
		p.synced = p.written
	}
	return connector.DirtyPart{Token: p.token, Length: p.written, Count: p.count}, true, nil
}

func (p *dirtyPart) close() error {
	err := p.flush()
	if p.file != nil {
		err = errors.Join(err, p.file.Close())
		p.file = nil
	}
	return err
}

// Join writes the durable records of all splits, in their order, into w. A
// job that did not end well adds the tails of the attempts that it stopped,
// by their tokens, which a later run writes anew.
func (d DirtyDir) Join(w io.Writer, states []connector.SplitState, tails map[connector.SplitID]connector.Token) error {
	if countUnrecorded() {
		return d.joinAll(w)
	}
	for _, st := range states {
		tail := tails[st.Split]
		for _, p := range st.Dirty {
			if p.Token == tail {
				continue
			}
			if err := d.copyPart(w, d.partName(st.Split, p.Token), p.Length); err != nil {
				return fmt.Errorf("join dirty records: %w", err)
			}
		}
		if tail == 0 {
			continue
		}
		err := d.copyPart(w, d.partName(st.Split, tail), wholePart)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("join dirty records: %w", err)
		}
	}
	return nil
}

// wholePart is the length that stands for a part's end.
const wholePart = 1<<63 - 1

func (d DirtyDir) copyPart(w io.Writer, name string, length int64) error {
	f, err := d.FS.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // read only
	n, err := io.Copy(w, io.LimitReader(f, length))
	if err == nil && length != wholePart && n < length {
		err = fmt.Errorf("%s has %d bytes where %d were synced", name, n, length)
	}
	return err
}
