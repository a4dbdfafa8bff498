package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/option"
)

func newConnectorsCommand(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "connectors [NAME]",
		Short: "List the connectors, or all options and types of one",
		Args:  cobra.MaximumNArgs(1),
		RunE:  command(env, &noOptions{}, runConnectors),
	}
}

// runConnectors is what `leat connectors` does.
func runConnectors(_ context.Context, env *Env, _ *noOptions, args []string) error {
	if len(args) == 0 {
		return printConnectors(env.Stdout, env.Registry)
	}
	d := env.Registry.Lookup(args[0])
	if d == nil {
		if near := option.Nearest(args[0], env.Registry.Names()); near != "" {
			return usagef("there is no connector %q; did you mean %q?", args[0], near)
		}
		return usagef("there is no connector %q; there are %s", args[0], strings.Join(env.Registry.Names(), ", "))
	}
	return printConnector(env.Stdout, d)
}

func printConnectors(w io.Writer, registry *connector.Registry) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	p := &printer{w: table}
	for _, name := range registry.Names() {
		d := registry.Lookup(name)
		p.printf("%s\t%s\t%s\n", d.Name, sides(d), d.Doc)
	}
	if p.err != nil {
		return p.err
	}
	return table.Flush()
}

func sides(d *connector.Definition) string {
	switch {
	case d.Source == nil:
		return "sink"
	case d.Sink == nil:
		return "source"
	}
	return "source, sink"
}

func printConnector(w io.Writer, d *connector.Definition) error {
	p := &printer{w: w}
	p.printf("%s: %s\n", d.Name, d.Doc)
	if len(d.Schemes) > 0 {
		p.printf("URLs: %s\n", strings.Join(d.Schemes, ", "))
	}
	if len(d.Suffixes) > 0 {
		p.printf("files: %s\n", strings.Join(d.Suffixes, ", "))
	}
	if d.Source != nil {
		p.options("as a source", option.Describe(d.Source.Options()))
	}
	if d.Sink != nil {
		p.options("as a sink", option.Describe(d.Sink.Options()))
	}
	if len(d.Types) > 0 {
		p.types(d.Types)
	}
	return p.err
}

// options prints each option as a line of what it is and one of its meaning.
func (p *printer) options(title string, docs []option.Doc) {
	p.printf("\n%s:\n", title)
	for _, d := range docs {
		p.printf("  %s (%s)\n", d.Name, optionType(d))
		if d.Doc != "" {
			p.printf("      %s\n", d.Doc)
		}
	}
}

// optionType says an option's type, whether it must be given, its default and
// the values that it may have.
func optionType(d option.Doc) string {
	text := d.Type
	if len(d.Enum) > 0 {
		text = "one of " + strings.Join(d.Enum, ", ")
	}
	switch {
	case d.Required:
		text += "; required"
	case d.Default != "":
		text += "; by default " + d.Default
	}
	return text
}

func (p *printer) types(rows []connector.TypeRow) {
	p.printf("\ntypes:\n")
	table := tabwriter.NewWriter(p.w, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		if p.err == nil {
			_, p.err = fmt.Fprintf(table, "  %s\t%s\t%s\n", r.Native, r.Type, r.Note)
		}
	}
	if p.err == nil {
		p.err = table.Flush()
	}
}
