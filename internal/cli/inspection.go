package cli

import (
	"io"
	"log/slog"

	"github.com/spf13/pflag"

	"github.com/leatdata/leat/job"
)

// inspection looks at a job without running it.
type inspection struct {
	logging
	jobFile
}

func (i *inspection) flags(flags *pflag.FlagSet) {
	i.logging.flags(flags)
	i.jobFile.flags(flags)
}

// inspect reads a job file and looks at the job. What look writes to out, what
// it logs and its error are shown without the job's secrets.
func (i *inspection) inspect(env *Env, name string, look func(j *job.Job, log *slog.Logger, out io.Writer) error) error {
	j, err := i.read(env, name)
	if err != nil {
		return err
	}
	log, err := i.logger(env.Stderr, j.Redact)
	if err != nil {
		return err
	}
	return redacted(j, look(j, log, &redactingWriter{to: env.Stdout, redact: j.Redact}))
}
