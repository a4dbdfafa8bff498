package storage

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriteback has the system begin to write a part of a file, by
// sync_file_range. That it cannot be had is no loss: Sync is what counts.
func startWriteback(f *os.File, offset, length int64) {
	_ = unix.SyncFileRange(int(f.Fd()), offset, length, unix.SYNC_FILE_RANGE_WRITE)
}
