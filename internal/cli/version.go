package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  arguments(),
		RunE:  command(env, &noOptions{}, runVersion),
	}
}

// runVersion is what `leat version` does.
func runVersion(_ context.Context, env *Env, _ *noOptions, _ []string) error {
	_, err := fmt.Fprintln(env.Stdout, versionText(debug.ReadBuildInfo()))
	return err
}

// versionText names the version and the revision that the binary was built of.
func versionText(info *debug.BuildInfo, ok bool) string {
	version, revision, changed := "(unknown)", "", ""
	if ok {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = ", revision " + s.Value[:min(12, len(s.Value))]
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = " with changes"
			}
		}
	}
	return fmt.Sprintf("leat %s%s%s, %s %s/%s", version, revision, changed, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
