package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/leatdata/leat/connector/option"
)

// arguments wants these arguments, which it names where they are missing.
func arguments(wanted ...string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		missing := wanted[min(len(args), len(wanted)):]
		switch {
		case len(args) > len(wanted):
			return usagef("%s is one too many", option.MaskURL(args[len(wanted)]))
		case len(missing) == 1:
			return usagef("%s is missing", missing[0])
		case len(missing) > 1:
			return usagef("%s are missing", strings.Join(missing, " and "))
		}
		return nil
	}
}
