package crashfs

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// file is an open file.
type file struct {
	fs     *FS
	node   *node
	name   string
	flag   int
	offset int64
	closed bool
	// unsynced is the error of the first Sync that failed, and of those after it.
	unsynced error
}

// begin is called with the lock held.
func (f *file) begin(kind Kind) error {
	if f.closed {
		return &fs.PathError{Op: kind.String(), Path: f.name, Err: fs.ErrClosed}
	}
	return f.fs.before(kind, f.name)
}

func (f *file) writable() bool { return f.flag&(os.O_WRONLY|os.O_RDWR) != 0 }

// Read implements storage.File.
func (f *file) Read(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	n, err := f.readAt(p, f.offset)
	f.offset += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// ReadAt implements storage.File.
func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.readAt(p, offset)
}

func (f *file) readAt(p []byte, offset int64) (int, error) {
	if err := f.begin(OpRead); err != nil {
		return 0, err
	}
	if f.node.dir {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: errIsDir}
	}
	if f.flag&os.O_WRONLY != 0 {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrPermission}
	}
	if len(p) == 0 {
		return 0, nil
	}
	if offset >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[offset:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Write implements storage.File. One that is made to fail writes half.
func (f *file) Write(p []byte) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	err := f.begin(OpWrite)
	if err != nil {
		p = p[:len(p)/2]
	}
	if f.closed {
		return 0, err
	}
	if !f.writable() {
		return 0, &fs.PathError{Op: "write", Path: f.name, Err: fs.ErrPermission}
	}
	if f.flag&os.O_APPEND != 0 {
		f.offset = int64(len(f.node.data))
	}
	if len(p) > 0 {
		f.node.apply(write{offset: f.offset, data: slices.Clone(p)}, f.fs.tick())
		f.offset += int64(len(p))
	}
	return len(p), err
}

// Seek implements storage.File.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += int64(len(f.node.data))
	}
	if offset < 0 || f.closed {
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: fs.ErrInvalid}
	}
	f.offset = offset
	return offset, nil
}

// Sync implements storage.File.
func (f *file) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.begin(OpSync); err != nil && f.unsynced == nil {
		f.unsynced = err
	}
	if f.unsynced == nil {
		f.node.sync()
	}
	return f.unsynced
}

// Truncate implements storage.File.
func (f *file) Truncate(size int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.begin(OpTruncate); err != nil {
		return err
	}
	if !f.writable() || size < 0 {
		return &fs.PathError{Op: "truncate", Path: f.name, Err: fs.ErrInvalid}
	}
	f.node.apply(write{size: size, truncate: true}, f.fs.tick())
	return nil
}

// Stat implements storage.File.
func (f *file) Stat() (fs.FileInfo, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if err := f.begin(OpStat); err != nil {
		return nil, err
	}
	return f.node.info(f.name), nil
}

// Close implements storage.File. It works after a crash too, so that what is
// tested can be put away.
func (f *file) Close() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.closed {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	f.closed = true
	return nil
}
