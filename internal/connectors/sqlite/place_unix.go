//go:build unix

package sqlite

import (
	"fmt"
	"os"
	"syscall"
)

// fileIdentity is the same for all names of one file: links, other spellings.
func fileIdentity(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", fmt.Errorf("%s has no inode", path)
	}
	return fmt.Sprintf("%d:%d", st.Dev, st.Ino), nil
}
