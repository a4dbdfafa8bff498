package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leatdata/leat/internal/testenv"
)

// meeting is a table whose uniqueness is judged at the commit, and which takes
// second rows only once so many transactions have brought their first.
const meeting = `CREATE TABLE target (turn int, id int UNIQUE DEFERRABLE INITIALLY DEFERRED);
CREATE FUNCTION meet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF NEW.turn = 1 THEN RETURN NEW; END IF;
	PERFORM pg_advisory_xact_lock_shared(42);
	WHILE (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 42 AND granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) < %d
	LOOP PERFORM pg_sleep(0.01); END LOOP;
	RETURN NEW;
END $$;
CREATE TRIGGER meet BEFORE INSERT ON target FOR EACH ROW EXECUTE FUNCTION meet()`

// TestDeadlockOfWriters has two splits bring the same two keys, in opposite
// order, into a table that judges them at the commit. Two writers wait for each
// other then, so that such a table gets one, whatever parallelism says
// (exactness rule 5).
func TestDeadlockOfWriters(t *testing.T) {
	t.Parallel()
	run := func(t *testing.T, writers int, broken string) (*testenv.Process, testenv.Exit, int64) {
		t.Helper()
		pg := testenv.Postgres(t)
		url, dir := pg.Database(t), t.TempDir()
		pg.Exec(t, url, fmt.Sprintf(meeting, writers))
		for name, text := range map[string]string{"a.csv": "turn,id\n1,1\n2,2\n", "b.csv": "turn,id\n1,2\n2,1\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := newRunner(t, scene{job: fmt.Sprintf("name: j\nsource: {csv: {path: %s}}\nsink: {postgres: {url: %q, table: target}}\nparallelism: 2\nrestart: {attempts: 0}\nerrors: {records: 2}\n",
			filepath.Join(dir, "*.csv"), url)})
		p, exit := testenv.RunProcess(t, r.command("", broken))
		return p, exit, testenv.Value[int64](t, url, "SELECT count(*) FROM target")
	}
	t.Run("one writer", func(t *testing.T) {
		t.Parallel()
		p, exit, rows := run(t, 1, "")
		if exit.Code != 0 || rows != 2 || !strings.Contains(p.Stdout(), `"state":"done_with_dirty"`) {
			t.Errorf("exit code %d, %d rows\n%s%s", exit.Code, rows, p.Stdout(), p.Stderr())
		}
	})
	t.Run("two", func(t *testing.T) {
		t.Parallel()
		p, exit, _ := run(t, 2, "many-writers")
		if exit.Code != 1 || !strings.Contains(p.Stderr(), "40P01") {
			t.Errorf("exit code %d\n%s%s", exit.Code, p.Stdout(), p.Stderr())
		}
	})
}
