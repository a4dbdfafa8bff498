package mariaserver

import (
	"fmt"
	"path/filepath"
)

// Install makes the data that a new server begins with in an empty folder, and
// returns its path, for the Data of servers' configurations: a copy is made
// much faster than new data.
func Install(dir string) (data string, err error) {
	p, err := find()
	if err != nil {
		return "", err
	}
	if err := p.account.Own(dir); err != nil {
		return "", err
	}
	data = dataFolder(dir)
	return data, p.makeData(dir)
}

func dataFolder(dir string) string { return filepath.Join(dir, "data") }

// makeData makes new data in a folder. They are not synced, as no server's are
// that lives as long as we do.
func (p programs) makeData(dir string) error {
	// Servers name temporary tables by their process id, which another one in a
	// namespace of its own may have too: each has a folder for them.
	install := p.account.Command(p.install, "--no-defaults", "--datadir="+dataFolder(dir), "--tmpdir="+dir,
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", "--innodb-log-file-size=48M",
		"--innodb-flush-method=nosync", "--debug-no-sync=1")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("run mariadb-install-db: %w\n%s", err, out)
	}
	return nil
}

// copyData gives a folder a copy of data.
func (p programs) copyData(dir, data string) error {
	if out, err := p.account.Command("cp", "-a", data, dataFolder(dir)).CombinedOutput(); err != nil {
		return fmt.Errorf("copy a server's data: %w\n%s", err, out)
	}
	return nil
}
