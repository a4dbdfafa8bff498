package files

import (
	"context"
	"fmt"
)

// Describe implements connector.Describer.
func (s *Source) Describe(context.Context) ([]string, error) {
	if s.stdin != nil {
		return []string{
			"splits: standard input is one split and has no positions: after a crash the only way back is to feed it again from its start",
			"end: a writer that dies early looks like the end of the input",
		}, nil
	}
	files, err := s.listing.Files()
	if err != nil {
		return nil, err
	}
	var size int64
	for _, f := range files {
		size += f.Size
	}
	lines := []string{fmt.Sprintf("files: %d, of %d bytes, the first is %s", len(files), size, files[0].Path)}
	if s.encoding != utf8Name {
		return append(lines, "splits: one for each file, since "+s.encoding+" has to be decoded from its start"), nil
	}
	return append(lines, "splits: large files are cut at ends of records; a compressed file is one split"), nil
}
