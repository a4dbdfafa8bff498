package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/embedded"
	"github.com/leatdata/leat/ha/etcd"
	"github.com/leatdata/leat/ha/zookeeper"
	"github.com/leatdata/leat/internal/elect"
)

// electOptions are the flags of elect.
type electOptions struct {
	configOptions
	logging
	lock, store, dir, name, health string
	interval, grace                time.Duration
	restart, status, json          bool
}

// stores are the factories by their types.
func stores() ha.Registry {
	return ha.Registry{"embedded": embedded.New, "etcd": etcd.Factory, "zookeeper": zookeeper.Factory}
}

func newElectCommand(env *Env) *cobra.Command {
	opts := &electOptions{}
	cmd := &cobra.Command{
		Use:   "elect --lock NAME -- COMMAND",
		Short: "Run a command on one machine of many, elected through ZooKeeper or etcd",
		Long: `Elect competes for a lock, and runs the command only while it leads. The command
is ended before anybody else can lead, whatever happens to this process. When the
command ends by itself, the lock is given back at once, and its exit code is ours.

The command finds the lock's name in LEAT_LOCK, and the number of the leadership,
which only grows, in LEAT_EPOCH. All keys of leat config can be set by --set and by
the environment. docs/elect.md says what is guaranteed.`,
		Example: `  leat elect --lock db --store zookeeper://zk1,zk2,zk3/prod -- postgres -D data
  leat elect --lock db --store zookeeper://zk1,zk2,zk3/prod --status`,
		RunE: command(env, opts, runElect),
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVar(&opts.lock, "lock", "", "the `NAME` of what is competed for")
	flags.StringVar(&opts.store, "store", "", "where the election is, a `URL`: zookeeper://HOST:PORT,…/PATH, etcd://HOST:PORT,…/PATH, or embedded")
	flags.StringVar(&opts.dir, "dir", "", "`FOLDER` for the marks of used epochs, and all of the embedded store (default .leat)")
	flags.StringVar(&opts.name, "name", "", "what this process calls itself (default HOST:PID)")
	flags.BoolVar(&opts.restart, "restart", false, "compete again when the command has ended")
	flags.StringVar(&opts.health, "health", "", "a shell `COMMAND`: while it fails, this process takes no part")
	flags.DurationVar(&opts.interval, "health-interval", 5*time.Second, "`TIME` between two checks, and the longest that one may take")
	flags.DurationVar(&opts.grace, "grace", 10*time.Second, "`TIME` that a command has to end before it is killed")
	flags.BoolVar(&opts.status, "status", false, "print who leads, since when, the epoch and who competes")
	flags.BoolVar(&opts.json, "json", false, "print the status as JSON")
	opts.configOptions.register(cmd)
	opts.logging.flags(flags)
	return cmd
}

// runElect is what `leat elect` does.
func runElect(ctx context.Context, env *Env, opts *electOptions, args []string) error {
	log, err := opts.logger(env.Stderr, option.MaskURL)
	if err != nil {
		return err
	}
	cfg, err := opts.configure(env)
	if err != nil {
		return connector.E(connector.Usage, err)
	}
	switch {
	case opts.status && len(args) > 0:
		return usagef("--status runs no command: leave out %s", quoteArg(args[0]))
	case opts.status:
		return printStatus(ctx, env, opts, cfg)
	case opts.json:
		return usagef("--json is of --status")
	}
	cfg.Logger = quieter(log)
	// What ends us is passed on to the command first; so it is not ctx that ends.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, elect.Signals()...)
	defer signal.Stop(signals)
	run := elect.Config{
		Lock: opts.lock, Command: args, Restart: opts.restart,
		Health: opts.health, HealthInterval: opts.interval, Grace: opts.grace,
		HA: cfg, Open: stores().Open, Signals: signals, Environ: env.Environ(),
		Stdin: env.Stdin, Stdout: env.Stdout, Stderr: env.Stderr, Logger: log,
	}
	if err := run.Validate(); err != nil {
		return connector.E(connector.Usage, err)
	}
	return electError(elect.Run(context.WithoutCancel(ctx), run))
}

// electError gives what a configuration rules out the class of wrong use.
func electError(err error) error {
	if errors.Is(err, ha.ErrConfig) {
		return connector.E(connector.Usage, err)
	}
	return err
}

// configure makes the election's configuration of flags, file and environment.
func (o *electOptions) configure(env *Env) (ha.Config, error) {
	if err := elect.CheckLock(o.lock); err != nil {
		return ha.Config{}, err
	}
	o.defaults = []string{"high-availability.storageDir=.leat", "high-availability.cluster-id=/elect"}
	if o.store != "" {
		settings, err := elect.ParseStore(o.store)
		if err != nil {
			return ha.Config{}, err
		}
		o.set = append(o.set, settings...)
	}
	if o.dir != "" {
		o.set = append(o.set, "high-availability.storageDir="+o.dir)
	}
	c, err := o.load(env)
	if err != nil {
		return ha.Config{}, err
	}
	if c.Text("high-availability.type") == "none" {
		return ha.Config{}, errors.New("no store is given: --store zookeeper://HOST:PORT,HOST:PORT/PATH, etcd://…, or embedded for one machine")
	}
	if o.name == "" {
		host, err := os.Hostname()
		if err != nil {
			return ha.Config{}, fmt.Errorf("this machine has no name: give one with --name: %w", err)
		}
		o.name = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	cfg := c.HighAvailability(o.name)
	cfg.ClusterID = strings.TrimSuffix(cfg.ClusterID, "/") + "/" + o.lock
	cfg.FencedRenewals, cfg.ElectionOnly = true, true
	return cfg, nil
}

// printStatus is what `leat elect --status` does.
func printStatus(ctx context.Context, env *Env, opts *electOptions, cfg ha.Config) error {
	ctx, cancel := context.WithTimeout(ctx, max(4*time.Second, min(cfg.SessionTimeout, 20*time.Second)))
	defer cancel()
	status, err := elect.Ask(ctx, opts.lock, cfg, stores().Open)
	if err != nil {
		return electError(err)
	}
	p := &printer{w: env.Stdout}
	if opts.json {
		encoder := json.NewEncoder(env.Stdout)
		encoder.SetIndent("", "  ")
		return encoder.Encode(status)
	}
	p.printf("lock:        %s\n", status.Lock)
	switch {
	case status.Held:
		p.printf("leader:      %s\n", status.Leader)
	case status.Epoch == 0:
		p.printf("leader:      none, and there has not been one\n")
	default:
		p.printf("leader:      none; the last was %s\n", status.Leader)
	}
	if !status.Since.IsZero() {
		p.printf("since:       %s (%s ago)\n", status.Since.UTC().Format(time.RFC3339), span(time.Since(status.Since)))
	}
	p.printf("epoch:       %d\n", status.Epoch)
	p.printf("contenders:  %s\n", strings.Join(status.Contenders, ", "))
	return p.err
}

// newWatcherCommand is not for people: leat elect starts it.
func newWatcherCommand(env *Env) *cobra.Command {
	cmd := &cobra.Command{
		Use: elect.WatcherCommand + " -- COMMAND", Hidden: true,
		Short: "Watch over the command of leat elect, which starts this",
		RunE: command(env, &noOptions{}, func(_ context.Context, _ *Env, _ *noOptions, args []string) error {
			return elect.Watch(args)
		}),
	}
	cmd.Flags().SetInterspersed(false)
	return cmd
}
