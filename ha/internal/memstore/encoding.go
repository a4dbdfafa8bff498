package memstore

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/coord"
)

// savedState is what is on disk: everything but what sessions own.
type savedState struct {
	Version int64         `json:"version"`
	Records []savedRecord `json:"records"`
}

type savedRecord struct {
	Folder  string `json:"folder"`
	Name    string `json:"name,omitempty"`
	Version int64  `json:"version"`
	Value   []byte `json:"value"`
}

func encode(records map[coord.Key]record, version int64) []byte {
	state := savedState{Version: version}
	for key, r := range records {
		if r.owner == 0 {
			state.Records = append(state.Records, savedRecord{
				Folder: key.Folder, Name: key.Name, Version: r.version, Value: r.value,
			})
		}
	}
	slices.SortFunc(state.Records, func(a, b savedRecord) int {
		return cmp.Or(cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.Name, b.Name))
	})
	text, err := json.MarshalIndent(state, "", " ")
	if err != nil {
		panic(err) // numbers, strings and bytes
	}
	return text
}

func decode(text []byte) (map[coord.Key]record, int64, error) {
	records := map[coord.Key]record{}
	if text == nil {
		return records, 0, nil
	}
	var state savedState
	if err := json.Unmarshal(text, &state); err != nil {
		return nil, 0, fmt.Errorf("saved store: %w: %w", ha.ErrCorrupt, err)
	}
	for _, r := range state.Records {
		records[coord.Key{Folder: r.Folder, Name: r.Name}] = record{value: r.Value, version: r.Version}
	}
	return records, state.Version, nil
}
