package csv

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/files"
)

// DialectOptions are what reading and writing have in common.
type DialectOptions struct {
	Delimiter string `option:"delimiter" default:"," doc:"what stands between fields: one ASCII character, or tab"`
	Quote     string `option:"quote" default:"\"" doc:"the quote: one ASCII character, or none"`
	Escape    string `option:"escape" default:"doubled" enum:"doubled,backslash" doc:"how a quote is written within quotes; backslash also makes delimiters literal outside them"`
	Null      string `option:"null_token" doc:"the text that means NULL where it stands without quotes; by default the empty field, while \"\" is the empty text"`
	Header    bool   `option:"header" default:"true" doc:"the first record names the columns"`
}

// SourceOptions are the options of the reading half.
type SourceOptions struct {
	files.SourceOptions
	DialectOptions
	LineEnd   string   `option:"line_end" default:"auto" enum:"auto,lf,crlf,cr" doc:"auto is LF and CRLF alike, or CR alone where the first line ends so"`
	SkipLines int      `option:"skip_lines" default:"0" doc:"lines before the header or the first record that are left out"`
	Names     []string `option:"names" doc:"the columns' names, in place of the header's; without either c1, c2, …"`
	files.TypesOption
}

// SinkOptions are the options of the writing half.
type SinkOptions struct {
	files.SinkOptions
	DialectOptions
	LineEnd   string `option:"line_end" default:"lf" enum:"lf,crlf" doc:"what ends a record"`
	QuoteWhat string `option:"quote_fields" default:"minimal" enum:"minimal,all" doc:"minimal quotes what would not read back without; all quotes all but NULL"`
}

// Validate implements the check of package option.
func (o *SourceOptions) Validate() error {
	errs := []error{o.check()}
	if o.SkipLines < 0 {
		errs = append(errs, fmt.Errorf("skip_lines: %d is less than 0", o.SkipLines))
	}
	for i, name := range o.Names {
		if name == "" || slices.Contains(o.Names[:i], name) {
			errs = append(errs, fmt.Errorf("names: %q for column %d is empty or there before", name, i+1))
		}
	}
	_, err := o.types()
	return errors.Join(append(errs, err)...)
}

// Validate implements the check of package option.
func (o *SinkOptions) Validate() error {
	err := o.check()
	if o.QuoteWhat == "all" && o.Quote == "none" {
		err = errors.Join(err, errors.New("quote_fields: all needs a quote, and quote is none"))
	}
	return err
}

// types parses the declared types.
func (o *SourceOptions) types() (map[string]batch.Type, error) {
	return o.ParseTypes(func(_ string, t batch.Type) error {
		_, err := check(t)
		return err
	})
}

// check reports all that is wrong with the dialect.
func (o *DialectOptions) check() error {
	var errs []error
	delim, err := character("delimiter", o.Delimiter)
	errs = append(errs, err)
	var quote byte
	if o.Quote != "none" {
		if quote, err = character("quote", o.Quote); err != nil {
			err = fmt.Errorf("%w, nor none", err)
		}
		errs = append(errs, err)
		if quote == delim {
			errs = append(errs, fmt.Errorf("quote: %q is the delimiter", o.Quote))
		}
	}
	if o.Escape == "backslash" && (delim == '\\' || quote == '\\') {
		errs = append(errs, errors.New("escape: a backslash cannot be delimiter or quote as well"))
	}
	switch {
	case strings.ContainsAny(o.Null, "\r\n") || delim != 0 && strings.IndexByte(o.Null, delim) >= 0:
		errs = append(errs, fmt.Errorf("null_token: %q holds a delimiter or a line end, and would never be met", o.Null))
	case quote != 0 && strings.HasPrefix(o.Null, string(rune(quote))):
		errs = append(errs, fmt.Errorf("null_token: %q begins with the quote, and would never be met", o.Null))
	}
	return errors.Join(errs...)
}

// character reads an option that is one ASCII character.
func character(option, text string) (byte, error) {
	if text == "tab" || text == `\t` {
		return '\t', nil
	}
	if len(text) != 1 || text[0] >= 0x80 || text[0] == 0 || text[0] == '\n' || text[0] == '\r' {
		return 0, fmt.Errorf("%s: %q is not one ASCII character", option, text)
	}
	return text[0], nil
}

// dialect makes the dialect of valid options.
func (o *DialectOptions) dialect(lineEnd string) (dialect, error) {
	if err := o.check(); err != nil {
		return dialect{}, connector.E(connector.Usage, err)
	}
	d := dialect{null: o.Null, backslash: o.Escape == "backslash", quoting: o.Quote != "none"}
	d.delim, _ = character("delimiter", o.Delimiter)
	if d.quoting {
		d.quote, _ = character("quote", o.Quote)
	}
	switch lineEnd {
	case "lf":
		d.ends = endsLF
	case "crlf":
		d.ends = endsCRLF
	case "cr":
		d.ends = endsCR
	}
	return d, nil
}
