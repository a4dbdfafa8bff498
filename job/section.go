package job

import (
	"errors"
	"fmt"
	"time"

	"github.com/leatdata/leat/connector/option"
)

// errorsSection, checkpointSection, restartSection and speedSection declare the keys of the
// sections of that name.
type errorsSection struct {
	Records    *int64   `option:"records" doc:"most dirty records before the job fails; 0 when neither limit is given"`
	Percentage *float64 `option:"percentage" doc:"largest share of dirty records among those read, 0 to 100, judged after 1,000 records and at the end"`
	Dirty      string   `option:"dirty" doc:"file that gets the dirty records with their reasons"`
}

// Validate implements the check of package option.
func (s *errorsSection) Validate() error {
	var errs []error
	if s.Records != nil && *s.Records < 0 {
		errs = append(errs, &option.Problem{Option: "records", Reason: fmt.Sprintf("%d is less than 0", *s.Records)})
	}
	if s.Percentage != nil && (*s.Percentage < 0 || *s.Percentage > 100) {
		errs = append(errs, &option.Problem{Option: "percentage", Reason: fmt.Sprintf("%g is not between 0 and 100", *s.Percentage)})
	}
	return errors.Join(errs...)
}

// limits applies the rule for what is not given: no dirty record at all,
// unless a percentage says otherwise.
func (s *errorsSection) limits() Errors {
	e := Errors{Records: 0, Percentage: -1, Dirty: s.Dirty}
	if s.Percentage != nil {
		e.Records, e.Percentage = -1, *s.Percentage
	}
	if s.Records != nil {
		e.Records = *s.Records
	}
	return e
}

type checkpointSection struct {
	Interval option.Duration `option:"interval" default:"10s" doc:"longest time between two durable positions"`
	Keep     int             `option:"keep" default:"1" doc:"older states kept besides the last"`
}

// Validate implements the check of package option.
func (s *checkpointSection) Validate() error {
	var errs []error
	if s.Interval.Std() < 10*time.Millisecond {
		errs = append(errs, &option.Problem{Option: "interval", Reason: fmt.Sprintf("%s is less than 10ms", s.Interval.Std())})
	}
	if s.Keep < 0 {
		errs = append(errs, &option.Problem{Option: "keep", Reason: fmt.Sprintf("%d is less than 0", s.Keep)})
	}
	return errors.Join(errs...)
}

type restartSection struct {
	Attempts int             `option:"attempts" default:"5" doc:"attempts at a part after its first that may fail without progress"`
	Backoff  option.Duration `option:"backoff" default:"1s" doc:"pause before the first of them; it doubles up to a minute"`
}

// Validate implements the check of package option.
func (s *restartSection) Validate() error {
	if s.Attempts < 0 {
		return &option.Problem{Option: "attempts", Reason: fmt.Sprintf("%d is less than 0", s.Attempts)}
	}
	return nil
}

func (s *checkpointSection) checkpoint() Checkpoint {
	return Checkpoint{Interval: s.Interval.Std(), Keep: s.Keep}
}

func (s *restartSection) restart() Restart {
	return Restart{Attempts: s.Attempts, Backoff: s.Backoff.Std()}
}

func defaultCheckpoint() Checkpoint {
	var s checkpointSection
	mustDefault(&s)
	return s.checkpoint()
}

func defaultRestart() Restart {
	var s restartSection
	mustDefault(&s)
	return s.restart()
}

func mustDefault(section any) {
	if err := option.Parse(nil, section); err != nil {
		panic(fmt.Sprintf("job: a section's defaults are not valid: %v", err))
	}
}

type speedSection struct {
	Bytes   *option.Size `option:"bytes" doc:"most record bytes per second of the whole job"`
	Records *int64       `option:"records" doc:"most records per second of the whole job"`
}

// Validate implements the check of package option.
func (s *speedSection) Validate() error {
	var errs []error
	if s.Bytes != nil && *s.Bytes < 1 {
		errs = append(errs, &option.Problem{Option: "bytes", Reason: noLimit(int64(*s.Bytes))})
	}
	if s.Records != nil && *s.Records < 1 {
		errs = append(errs, &option.Problem{Option: "records", Reason: noLimit(*s.Records)})
	}
	return errors.Join(errs...)
}

func noLimit(n int64) string {
	return fmt.Sprintf("%d is less than 1; leave it out for no limit", n)
}

func (s *speedSection) speed() (speed Speed) {
	if s.Bytes != nil {
		speed.Bytes = int64(*s.Bytes)
	}
	if s.Records != nil {
		speed.Records = *s.Records
	}
	return speed
}

// Section is a part of the job file and its keys, for people.
type Section struct {
	Name string
	Keys []option.Doc
}

// Sections describes the sections whose keys are declared here.
func Sections() []Section {
	return []Section{
		{"speed", option.Describe(&speedSection{})},
		{"errors", option.Describe(&errorsSection{})},
		{"checkpoint", option.Describe(&checkpointSection{})},
		{"restart", option.Describe(&restartSection{})},
	}
}
