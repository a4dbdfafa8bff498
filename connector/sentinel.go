package connector

import "errors"

// ErrFinished is returned by Sink.Prepare for a run that has finished.
var ErrFinished = errors.New("the run has finished")

// ErrAgain is returned by Writer.Commit when it found dirty records and
// committed nothing yet.
var ErrAgain = errors.New("records were refused at the commit: commit again")
