package parquet

import (
	"errors"
	"fmt"
	"slices"

	"github.com/leatdata/leat/connector/option"
	"github.com/leatdata/leat/internal/connectors/parquet/format"
	"github.com/leatdata/leat/internal/files"
)

// SourceOptions are the options of the reading half.
type SourceOptions struct {
	Path      []string    `option:"path,required,whole" doc:"file, folder or pattern (*, ?, [a-z]), or a list of them"`
	SplitSize option.Size `option:"split_size,tuning" doc:"stored bytes from which row groups of a file make a split; by default 8 to 64 MiB, by the size and the parallelism"`
}

// SinkOptions are the options of the writing half.
type SinkOptions struct {
	Path         string      `option:"path,required" doc:"file or folder (ends in /, is one, or its name has no suffix)"`
	Mode         string      `option:"mode" default:"overwrite" enum:"overwrite,append" doc:"overwrite replaces the file, or the folder's part files, at the end; append adds part files to a folder"`
	Compression  string      `option:"compression" default:"zstd" enum:"zstd,snappy,gzip,none" doc:"how pages are compressed"`
	RowGroupRows int         `option:"row_group_rows,tuning" default:"122880" doc:"rows of a row group at most, about"`
	RowGroupSize option.Size `option:"row_group_size,tuning" default:"8MiB" doc:"bytes held in memory at which a row group ends; each stream holds two to three times as much"`
	RollSize     option.Size `option:"roll_size,tuning" default:"128MiB" doc:"stored size at which a folder's next part file begins"`
}

// Validate implements the check of package option.
func (o *SourceOptions) Validate() error {
	if slices.Contains(o.Path, files.Standard) {
		return errors.New("path: Parquet cannot be read from standard input, since its index stands at the end: name a file")
	}
	return nil
}

// Validate implements the check of package option.
func (o *SinkOptions) Validate() error {
	var errs []error
	if o.Path == files.Standard {
		errs = append(errs, errors.New("path: Parquet cannot be written to standard output: name a file or a folder"))
	}
	if c := files.CompressionOf(o.Path); c != files.Plain {
		errs = append(errs, fmt.Errorf("path: %s ends in %s, and a Parquet file is not compressed as a whole but inside: name it without that ending, and say how by the option compression (now %s)", o.Path, c.Suffix(), o.Compression))
	}
	if o.RowGroupRows < 1 {
		errs = append(errs, fmt.Errorf("row_group_rows: %d is less than 1", o.RowGroupRows))
	}
	if o.RowGroupSize < 1<<16 || o.RowGroupSize > 1<<30 {
		errs = append(errs, fmt.Errorf("row_group_size: %s is not between 64 KiB and 1 GiB", o.RowGroupSize))
	}
	return errors.Join(errs...)
}

// codec returns the compression that the option names.
func (o *SinkOptions) codec() format.Codec {
	switch o.Compression {
	case "none":
		return format.Uncompressed
	case "snappy":
		return format.Snappy
	case "gzip":
		return format.Gzip
	}
	return format.Zstd
}
