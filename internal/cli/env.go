package cli

import (
	"io"
	"os"

	"golang.org/x/term"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors"
	"github.com/leatdata/leat/internal/failpoint"
)

// Env is what the command line stands on.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// LookupEnv returns a variable of the environment.
	LookupEnv func(name string) (string, bool)
	// Environ returns all of them, as NAME=value; nil: none.
	Environ  func() []string
	Registry *connector.Registry
	// Failpoint is called at named points; nil for none.
	Failpoint func(name string)
}

// ProcessEnv returns what a process stands on: its own streams and
// environment, and all connectors.
func ProcessEnv() Env {
	return Env{
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		LookupEnv: os.LookupEnv, Environ: os.Environ, Registry: connectors.All(), Failpoint: failpoint.Hook(),
	}
}

// terminal reports whether what is written to w is seen on a terminal.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
