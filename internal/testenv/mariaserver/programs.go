package mariaserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/leatdata/leat/internal/testenv/child"
)

var errNotInstalled = errors.New("mariadbd and mariadb-install-db are not on this machine: " +
	"install the Debian package mariadb-server (apt-get install mariadb-server); " +
	"`make test` run as root installs it")

// programs is where the server's programs are and who runs them.
type programs struct {
	install, server string
	account         child.Account
}

// find looks for the programs on the PATH, then where Debian's package puts them.
func find() (programs, error) {
	p, err := locate(append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/usr/bin"))
	if err != nil {
		return p, err
	}
	if p.account, err = child.AccountFor("mysql"); err != nil {
		return p, fmt.Errorf("%w (%w)", err, errNotInstalled)
	}
	return p, nil
}

// locate finds each of the programs in the first folder that has it.
func locate(folders []string) (programs, error) {
	p := programs{install: first(folders, "mariadb-install-db"), server: first(folders, "mariadbd")}
	if p.install == "" || p.server == "" {
		return programs{}, errNotInstalled
	}
	return p, nil
}

func first(folders []string, program string) string {
	for _, dir := range folders {
		path := filepath.Join(dir, program)
		if _, err := exec.LookPath(path); err == nil {
			return path
		}
	}
	return ""
}
