package connector

// Counters count the records of a split or a job. Once all is done,
// Read = Written + Filtered + Dirty + Merged + Refused.
type Counters struct {
	// Read is the number of records taken from the source.
	Read int64 `json:"read"`
	// Written is what the target counted, not what was sent.
	Written int64 `json:"written"`
	// Filtered records did not pass the job's where.
	Filtered int64 `json:"filtered"`
	// Dirty records could not be converted or written, and were kept aside.
	Dirty int64 `json:"dirty"`
	// Merged records were replaced within a batch by a later one of the same key (upsert).
	Merged int64 `json:"merged"`
	// Refused records were accepted and then dropped by the target (a trigger).
	Refused int64 `json:"refused"`
	// BytesRead and BytesWritten are record bytes, uncompressed.
	BytesRead    int64 `json:"bytes_read"`
	BytesWritten int64 `json:"bytes_written"`
}

// Add returns the sum of two counts.
func (c Counters) Add(d Counters) Counters {
	c.Read += d.Read
	c.Written += d.Written
	c.Filtered += d.Filtered
	c.Dirty += d.Dirty
	c.Merged += d.Merged
	c.Refused += d.Refused
	c.BytesRead += d.BytesRead
	c.BytesWritten += d.BytesWritten
	return c
}

// Balanced reports whether every record read is accounted for.
func (c Counters) Balanced() bool {
	return c.Read == c.Written+c.Filtered+c.Dirty+c.Merged+c.Refused
}

// Segment is a durable range of a file that a Staged sink wrote.
type Segment struct {
	// File is the name within the sink's staging place.
	File string `json:"file"`
	// Offset and Length are the range in bytes as stored (compressed where it is).
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
	// Sealed says that the file is complete and closed: nothing will be added to it.
	Sealed bool `json:"sealed,omitempty"`
}

// DirtyPart is a durable prefix of a file of dirty records of one attempt.
type DirtyPart struct {
	Token  Token `json:"token"`
	Length int64 `json:"length"`
	Count  int64 `json:"count"`
}

// SplitState is what is durable of a split. Databases keep it in the row that
// commits with the records; for files the engine stores it.
type SplitState struct {
	Split    SplitID     `json:"split"`
	Token    Token       `json:"token"`
	Position Position    `json:"position"`
	CommitNo int64       `json:"commit_no"`
	Done     bool        `json:"done"`
	Counters Counters    `json:"counters"`
	Segments []Segment   `json:"segments,omitempty"`
	Dirty    []DirtyPart `json:"dirty,omitempty"`
}
