package crashfs

// Kind is what an operation does.
type Kind uint8

// The kinds of operations. OpOpen opens what exists and leaves it as it is.
const (
	OpOpen Kind = iota
	OpCreate
	OpRead
	OpWrite
	OpSync
	OpTruncate
	OpRename
	OpRemove
	OpMkdir
	OpReadDir
	OpStat
	OpSyncDir
	OpClose
)

// String returns the kind's name.
func (k Kind) String() string {
	return [...]string{
		"open", "create", "read", "write", "sync", "truncate", "rename", "remove", "mkdir",
		"readdir", "stat", "syncdir", "close",
	}[k]
}

// Changes reports whether operations of the kind change what is there or
// what is durable of it, so that a crash before one differs from one after it.
func (k Kind) Changes() bool {
	switch k {
	case OpCreate, OpWrite, OpSync, OpTruncate, OpRename, OpRemove, OpMkdir, OpSyncDir:
		return true
	default:
		return false
	}
}

// Op is an operation as Inject sees it.
type Op struct {
	Kind Kind
	Name string
	// Change is the number of changing operations so far, this one included.
	Change int64
}
