package database

// The modes of a sink: what becomes of the rows that are there.
const (
	Append    = "append"
	Overwrite = "overwrite"
	Truncate  = "truncate"
	Upsert    = "upsert"
)

// NullsKeep has a NULL of an upsert leave the value that is there.
const NullsKeep = "keep"

// CreateNever refuses to make a missing table.
const CreateNever = "never"
