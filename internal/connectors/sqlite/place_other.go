//go:build !unix

package sqlite

import "path/filepath"

// fileIdentity is the same for all names of one file, but for hard links.
func fileIdentity(path string) (string, error) {
	whole, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	return filepath.Abs(whole)
}
