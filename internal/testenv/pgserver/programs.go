package pgserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/leatdata/leat/internal/testenv/child"
)

var errNotInstalled = errors.New("initdb and postgres are not on this machine: " +
	"install the Debian package postgresql (apt-get install postgresql); " +
	"`make test` run as root installs it")

// programs is where the server's programs are and who runs them.
type programs struct {
	initdb, postgres string
	account          child.Account
}

// find looks for the programs on the PATH, then where Debian's packages put
// them, the newest version first.
func find() (programs, error) {
	p, err := locate(os.Getenv("PATH"), "/usr/lib/postgresql")
	if err != nil {
		return p, err
	}
	if p.account, err = child.AccountFor("postgres"); err != nil {
		return p, fmt.Errorf("%w (%w)", err, errNotInstalled)
	}
	return p, nil
}

// locate finds the programs in one folder of path, or in the bin folder of the
// highest version below root.
func locate(path, root string) (programs, error) {
	folders := filepath.SplitList(path)
	best := -1
	versions, err := filepath.Glob(filepath.Join(root, "*", "bin"))
	if err != nil {
		return programs{}, fmt.Errorf("look below %s: %w", root, err)
	}
	newest := ""
	for _, bin := range versions {
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(bin))); err == nil && v > best {
			best, newest = v, bin
		}
	}
	if newest != "" {
		folders = append(folders, newest)
	}
	for _, dir := range folders {
		p := programs{initdb: filepath.Join(dir, "initdb"), postgres: filepath.Join(dir, "postgres")}
		if runnable(p.initdb) && runnable(p.postgres) {
			return p, nil
		}
	}
	return programs{}, errNotInstalled
}

// Psql returns the path of the psql that came with the server, or else of the
// one on the PATH, which may be a wrapper that chooses a program.
func Psql() (string, error) {
	p, err := find()
	if err != nil {
		return "", err
	}
	server, err := filepath.EvalSymlinks(p.postgres)
	if err != nil {
		return "", fmt.Errorf("find what %s is: %w", p.postgres, err)
	}
	if psql := filepath.Join(filepath.Dir(server), "psql"); runnable(psql) {
		return psql, nil
	}
	return exec.LookPath("psql")
}

func runnable(path string) bool {
	_, err := exec.LookPath(path)
	return err == nil
}
