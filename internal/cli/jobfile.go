package cli

import (
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/job"
)

// jobFile says how to read a job file.
type jobFile struct{ set []string }

func (f *jobFile) flags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.set, "set", nil, "`key=value` for ${key} in the job file; may be given several times")
}

// read reads and checks the job file of a name; "-" is standard input.
func (f *jobFile) read(env *Env, name string) (*job.Job, error) {
	set, err := f.values()
	if err != nil {
		return nil, err
	}
	data, err := readFile(env, name)
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	shown := name
	if name == "-" {
		shown = "standard input"
	}
	j, err := job.Parse(data, shown, job.Vars{Set: set, Env: env.LookupEnv}, env.Registry)
	if err != nil {
		return nil, err
	}
	if name == "-" && standardStream(&j.Source) {
		return nil, usagef("standard input cannot be both the job file and the source")
	}
	return j, nil
}

func readFile(env *Env, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(env.Stdin)
	}
	return os.ReadFile(name)
}

func (f *jobFile) values() (map[string]string, error) {
	set := map[string]string{}
	for _, s := range f.set {
		key, value, ok := strings.Cut(s, "=")
		if !ok || key == "" {
			return nil, usagef("--set wants key=value, and has no = or no key")
		}
		if _, twice := set[key]; twice {
			return nil, usagef("--set gives %q twice", key)
		}
		set[key] = value
	}
	return set, nil
}

// standardStream reports whether an end of a job is a standard stream: its
// path is "-", or it prints records.
func standardStream(e *job.Endpoint) bool {
	given := option.Identity(e.Options)
	return given["path"] == "-" || given["path"] == `["-"]` || given["print"] == "true"
}
