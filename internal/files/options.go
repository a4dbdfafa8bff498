package files

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector/option"
)

// SourceOptions are the options that all sources over files share.
type SourceOptions struct {
	Path        []string    `option:"path,required,whole" doc:"file, folder or pattern (*, ?, [a-z]), or a list of them; - is standard input"`
	Encoding    string      `option:"encoding" default:"utf-8" doc:"the text's encoding: utf-8, utf-16, utf-16le, utf-16be, gbk, gb18030, latin1, …"`
	Compression string      `option:"compression" default:"auto" enum:"auto,none,gzip,zstd" doc:"auto goes by each file's first bytes and its name's suffix"`
	SplitSize   option.Size `option:"split_size,tuning" doc:"bytes of a split of a large file; by default 8 to 64 MiB, by the size and the parallelism, and 1 GiB for one reader alone"`
}

// SinkOptions are the options that all sinks over files share.
type SinkOptions struct {
	Path        string      `option:"path,required" doc:"file or folder (ends in /, is one, or its name has no suffix); - is standard output"`
	Mode        string      `option:"mode" default:"overwrite" enum:"overwrite,append" doc:"overwrite replaces the file, or the folder's part files, at the end; append adds part files to a folder"`
	Compression string      `option:"compression" default:"auto" enum:"auto,none,gzip,zstd" doc:"auto goes by the suffix of path: .gz, .zst"`
	RollSize    option.Size `option:"roll_size,tuning" default:"128MiB" doc:"stored size at which a folder's next part file begins"`
}

// TypesOption is the option of a format whose texts do not tell their types.
type TypesOption struct {
	Types map[string]string `option:"types" doc:"types of columns, such as {price: decimal(15,2)}; by default the target's, or what all values allow"`
}

// ParseTypes parses the declared types, each of which check has to allow.
func (o *TypesOption) ParseTypes(check func(column string, t batch.Type) error) (map[string]batch.Type, error) {
	types := make(map[string]batch.Type, len(o.Types))
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(o.Types)) {
		t, err := batch.ParseType(o.Types[name])
		if err == nil {
			err = check(name, t)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("types: %s: %w", name, err))
		}
		types[name] = t
	}
	return types, errors.Join(errs...)
}

// Readback returns the options that read what a sink of these has written.
func (o *SinkOptions) Readback() SourceOptions {
	return SourceOptions{Path: []string{o.Path}, Encoding: "utf-8", Compression: o.Compression}
}

// Standard names a standard stream in place of a path.
const Standard = "-"
