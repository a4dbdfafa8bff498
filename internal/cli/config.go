package cli

import (
	"context"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/config"
)

// configOptions are the flags of commands that are configured.
type configOptions struct {
	file string
	set  []string
	// defaults are a command's own, below all else.
	defaults []string
}

func (o *configOptions) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.file, "config", "", "a configuration file in YAML")
	cmd.Flags().StringArrayVar(&o.set, "set", nil, "set a configuration `KEY=VALUE`, above file and environment; may be repeated")
}

// load reads the effective configuration.
func (o *configOptions) load(env *Env) (*config.Config, error) {
	in := config.Input{FileName: o.file, Flags: o.set, Defaults: o.defaults}
	if env.Environ != nil {
		in.Environ = env.Environ()
	}
	if o.file != "" {
		var err error
		if in.File, err = os.ReadFile(o.file); err != nil {
			return nil, connector.E(connector.Usage, fmt.Errorf("read configuration: %w", err))
		}
	}
	c, err := config.Load(in)
	if err != nil {
		return nil, connector.E(connector.Usage, err)
	}
	return c, nil
}

func newConfigCommand(env *Env) *cobra.Command {
	opts := &configOptions{}
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the configuration of a cluster's processes, and where each value comes from",
		Long: `Config prints each key with its effective value and where it comes from: the
default, the file, the environment, or a flag, each above the ones before it.
The variable of a key is LEAT_ and the key in capitals, with dots and dashes as
underscores: LEAT_HEARTBEAT_INTERVAL=5s.`,
		Args: arguments(),
		RunE: command(env, opts, runConfig),
	}
	opts.register(cmd)
	return cmd
}

// runConfig is what `leat config` does.
func runConfig(_ context.Context, env *Env, opts *configOptions, _ []string) error {
	c, err := opts.load(env)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(env.Stdout, 0, 0, 2, ' ', 0)
	p := &printer{w: table}
	for _, s := range c.Settings() {
		value := s.Value
		switch {
		case value == "":
			value = `""`
		case s.Secret:
			value = "****"
		}
		p.printf("%s: %s\t# %s\n", s.Name, value, s.Source)
	}
	if p.err != nil {
		return p.err
	}
	return table.Flush()
}
