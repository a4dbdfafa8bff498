package elect

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"time"
)

// never is later than every time.
const never = time.Duration(1<<63 - 1)

// again is how soon a kill is repeated: a process may have made another one just
// before it was killed.
const again = 20 * time.Millisecond

// deadlines are until when the command may run, as times of bootTime.
type deadlines struct {
	// Term is when it is told to end, Kill when it is made to.
	Term, Kill time.Duration
}

// order is what leat elect tells the watcher: each is one of these.
type order struct {
	// Begin comes first, with deadlines, and starts the command.
	Begin *begin `json:",omitempty"`
	// Until are new deadlines.
	Until *deadlines `json:",omitempty"`
	// Signal is passed on to the command's group.
	Signal int `json:",omitempty"`
	// Stop is TERM, and KILL after the grace.
	Stop bool `json:",omitempty"`
	// Kill is KILL, to all there is.
	Kill bool `json:",omitempty"`
}

// begin is what the watcher has to know beside the command.
type begin struct {
	Grace time.Duration
	// Turn is a file whose lock is held while anything of the command lives; empty:
	// none.
	Turn string `json:",omitempty"`
}

// report is what the watcher tells leat elect: each is one of these.
type report struct {
	// Started is the command's process id, and its group's.
	Started int `json:",omitempty"`
	// Doubted says that the command is being ended for lack of a renewal.
	Doubted bool `json:",omitempty"`
	// Failed is why the command could not be started.
	Failed string `json:",omitempty"`
	// Ended says that nothing of the command is left; Code is as a shell has it.
	// It is the last report.
	Ended bool `json:",omitempty"`
	Code  int  `json:",omitempty"`
}

// send writes a message as a line.
func send(w io.Writer, message any) error {
	line, err := json.Marshal(message)
	if err != nil {
		panic(err) // numbers and strings
	}
	if _, err := w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("pass a message on: %w", err)
	}
	return nil
}

// messages reads lines until the pipe is closed.
func messages[M any](r io.Reader) iter.Seq[M] {
	return func(yield func(M) bool) {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			var m M
			if json.Unmarshal(lines.Bytes(), &m) != nil || !yield(m) {
				return
			}
		}
	}
}
