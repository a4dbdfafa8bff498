package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/sqlite/native"
)

// lockWait is how long a lock of another process is waited for (exactness
// rule 2: nobody can be ended here, so that the attempt fails and says who).
const lockWait = 5 * time.Second

// dbFile is one SQLite file.
type dbFile struct {
	path string
	// wait is how long locks are waited for.
	wait time.Duration
}

// exists reports whether the file is there.
func (d dbFile) exists() (bool, error) {
	info, err := os.Stat(d.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, connector.E(connector.Usage, err)
	case info.IsDir():
		return false, connector.Errorf(connector.Usage, "%s is a folder, not an SQLite database", d.path)
	}
	return true, nil
}

// openRead opens the file for queries only. A file that a crash left in the
// middle of a transaction has to be rolled back before it can be read, which a
// read-only connection may not do; SQLite makes it one by itself where the
// file may not be written.
func (d dbFile) openRead() (*native.Conn, error) {
	there, err := d.exists()
	if err != nil {
		return nil, err
	}
	if !there {
		return nil, connector.Errorf(connector.Usage, "there is no database file %s", d.path)
	}
	c, err := native.Open(d.path, native.ReadWriteMode, d.wait)
	if err != nil {
		return nil, d.classed(err)
	}
	if err := c.Exec("PRAGMA query_only=ON"); err != nil {
		return nil, errors.Join(d.classed(err), c.Close())
	}
	return c, nil
}

// openWrite opens the file, making it and its folder when missing, such that what
// COMMIT answers for is on the disk.
func (d dbFile) openWrite() (*native.Conn, error) {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o755); err != nil {
		return nil, connector.E(connector.Usage, fmt.Errorf("make the folder of the database: %w", err))
	}
	c, err := native.Open(d.path, native.CreateMode, d.wait)
	if err != nil {
		return nil, d.classed(err)
	}
	// legacy_alter_table: renaming the new table into place does not look
	// into views, one of which may name a table that is not there.
	if err := c.Exec("PRAGMA synchronous=FULL; PRAGMA cache_size=-16384; PRAGMA legacy_alter_table=ON"); err != nil {
		return nil, errors.Join(d.classed(err), c.Close())
	}
	return c, nil
}

// ourselves is the holder of locks that are all held by this process.
const ourselves = "another connection of this process"

// classed gives an error of SQLite its class and says whose file it is about.
func (d dbFile) classed(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*connector.Error](err); ok {
		return err
	}
	switch native.ReasonOf(err) {
	case native.Busy:
		return connector.Errorf(connector.Retryable, "database file %s is locked by %s: %w", d.path, holders(d.path), err)
	case native.Interrupted:
		return connector.Errorf(connector.Retryable, "database file %s: %w", d.path, err)
	case native.InputOutput:
		return connector.Errorf(connector.Retryable, "database file %s: %w", d.path, err)
	case native.NotADatabase:
		return connector.Errorf(connector.Usage, "%s is not an SQLite database: %w", d.path, err)
	case native.CannotOpen, native.ReadOnly:
		return connector.Errorf(connector.Usage, "database file %s cannot be used: %w", d.path, err)
	}
	return fmt.Errorf("database file %s: %w", d.path, err)
}

// readByUs is for the error of a COMMIT: when nobody but this process holds the
// file, it is the source of the same job, which will not let go of it.
func (d dbFile) readByUs(err error) error {
	if native.ReasonOf(err) != native.Busy || holders(d.path) != ourselves {
		return err
	}
	return connector.Errorf(connector.Permanent, "database file %s is being read by this process: a job that reads and writes the same file needs the file in WAL mode (PRAGMA journal_mode=WAL): %w", d.path, err)
}

// write runs f in a transaction that holds the file's write lock from its
// start. An error of f rolls it back.
func (d dbFile) write(ctx context.Context, c *native.Conn, f func() error) error {
	defer c.Watch(ctx)()
	if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return d.interrupted(ctx, err)
	}
	if err := f(); err != nil {
		return d.interrupted(ctx, errors.Join(err, rollback(c)))
	}
	if !c.InTransaction() {
		return connector.Errorf(connector.Usage, "a statement of pre or post ended the transaction that it runs in")
	}
	if err := d.readByUs(c.Exec("COMMIT")); err != nil {
		return d.interrupted(ctx, errors.Join(err, rollback(c)))
	}
	return nil
}

// interrupted is classed, but for an error that ctx is the cause of.
func (d dbFile) interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && (native.ReasonOf(err) == native.Interrupted || native.ReasonOf(err) == native.Busy) {
		return fmt.Errorf("database file %s: %w", d.path, ctx.Err())
	}
	return d.classed(err)
}

// rollback ends the transaction if SQLite has not done so itself.
func rollback(c *native.Conn) error {
	if !c.InTransaction() {
		return nil
	}
	return c.Exec("ROLLBACK")
}

// quote makes a name an identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// quoteAll makes names a list of identifiers.
func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, ", ")
}
