package connector

import "time"

// FormatState is what a subtask has measured: of a split, as of its durable
// state; of a subtask or a job, the sum over its splits. It is stored with the
// splits' states, so that numbers and rates go on after a restart.
type FormatState struct {
	Read         int64         `json:"read,omitempty"`
	BytesRead    int64         `json:"bytes_read,omitempty"`
	ReadTime     time.Duration `json:"read_time,omitempty"`
	Written      int64         `json:"written,omitempty"`
	BytesWritten int64         `json:"bytes_written,omitempty"`
	WriteTime    time.Duration `json:"write_time,omitempty"`
	Errors       CauseCounts   `json:"errors"`
	// Rates are per second at the time; zero once a split is done.
	Rates Rates `json:"rates"`
	// LastWrote is where the last durable record went.
	LastWrote Place `json:"last_wrote"`
}

// Rates are records and bytes per second.
type Rates struct {
	Read         float64 `json:"read,omitempty"`
	BytesRead    float64 `json:"bytes_read,omitempty"`
	Written      float64 `json:"written,omitempty"`
	BytesWritten float64 `json:"bytes_written,omitempty"`
}

// Add returns the sum of two rates.
func (r Rates) Add(s Rates) Rates {
	return Rates{
		Read: r.Read + s.Read, BytesRead: r.BytesRead + s.BytesRead,
		Written: r.Written + s.Written, BytesWritten: r.BytesWritten + s.BytesWritten,
	}
}

// Place is a split, the position in it, and how many of its records had been
// written there.
type Place struct {
	Split    SplitID  `json:"split,omitempty"`
	Position Position `json:"position,omitempty"`
	Number   int64    `json:"number,omitempty"`
}

// CauseCounts count dirty records by their cause.
type CauseCounts struct {
	Null       int64 `json:"null,omitempty"`
	Duplicate  int64 `json:"duplicate,omitempty"`
	Conversion int64 `json:"conversion,omitempty"`
	Other      int64 `json:"other,omitempty"`
}

// Sum is the number of all.
func (c CauseCounts) Sum() int64 { return c.Null + c.Duplicate + c.Conversion + c.Other }

// Add returns the sum of two states. Of the places the one of more records is kept.
func (f FormatState) Add(g FormatState) FormatState {
	f.Read += g.Read
	f.BytesRead += g.BytesRead
	f.ReadTime += g.ReadTime
	f.Written += g.Written
	f.BytesWritten += g.BytesWritten
	f.WriteTime += g.WriteTime
	f.Errors.Null += g.Errors.Null
	f.Errors.Duplicate += g.Errors.Duplicate
	f.Errors.Conversion += g.Errors.Conversion
	f.Errors.Other += g.Errors.Other
	f.Rates = f.Rates.Add(g.Rates)
	if g.LastWrote.Number > f.LastWrote.Number {
		f.LastWrote = g.LastWrote
	}
	return f
}

// At returns the state as it has to be beside a split's durable state: the
// counters that commit with the records are the truth. Of dirty records whose
// cause was lost in a crash the cause is another one.
func (f FormatState) At(s SplitState) FormatState {
	c := s.Counters
	f.Read, f.BytesRead, f.Written, f.BytesWritten = c.Read, c.BytesRead, c.Written, c.BytesWritten
	if lost := c.Dirty - f.Errors.Sum(); lost > 0 {
		f.Errors.Other += lost
	}
	f.LastWrote = Place{Split: s.Split, Position: s.Position, Number: c.Written}
	if s.Done {
		f.Rates = Rates{}
	}
	return f
}
