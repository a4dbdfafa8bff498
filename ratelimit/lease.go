package ratelimit

import "time"

// The times of leases, in windows. A token of a lease is open for a window; the
// lease ends after two. A worker that hears nothing has its floor after four:
// what others have spent meanwhile has thinned out by then (doc.go).
const (
	leaseWindows  = 2
	silentWindows = 4
	// stepsPerWindow cuts a window: a lease opens step by step.
	stepsPerWindow = 20
)

// Lease is what a worker may pass on, as the ledger tells it. It is a value
// that may be sent anywhere; a newer one adds to an older one.
type Lease struct {
	// Epoch is the master's, Seq the lease's number for this worker.
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"`
	// Answers is the number of the last report that the ledger had heard: the
	// lease ends two windows after that was sent.
	Answers uint64 `json:"answers"`
	// Limit is the job's; zero lets everything pass.
	Limit Amount `json:"limit"`
	// Parallelism bounds batches: see Limiter.Bound.
	Parallelism int `json:"parallelism"`
	// Floor is what the worker may pass per second while it hears nothing.
	Floor Amount `json:"floor"`
	// Hold says that a new master cannot lease yet: older leases and the floor
	// go on.
	Hold bool `json:"hold,omitempty"`
	// Window is the ledger's; Steps open one after the other through it.
	Window time.Duration `json:"window"`
	Steps  []Amount      `json:"steps,omitempty"`
	// Whole answers the ask of that number: its record may pass, within two
	// windows of the sending of the report WholeAnswers.
	Whole        uint64 `json:"whole,omitempty"`
	WholeAnswers uint64 `json:"whole_answers,omitempty"`
}

// Grant is a lease for a worker.
type Grant struct {
	Worker int
	Lease  Lease
}

// Report is what a worker tells the ledger, a few times in a window.
type Report struct {
	// No numbers the worker's reports: one that came before is dropped.
	No uint64 `json:"no"`
	// Epoch and Seq name the last lease received.
	Epoch uint64 `json:"epoch"`
	Seq   uint64 `json:"seq"`
	// Used is what was passed on by leases of this epoch since the last report.
	Used []Use `json:"used,omitempty"`
	// Returned is what was leased and will not be used.
	Returned []Back `json:"returned,omitempty"`
	// Passed is all that was passed on since the worker began, also by floors.
	Passed Amount `json:"passed"`
	// Waiting says that a batch waits, or has waited just now; Idle that there has
	// been none for a while.
	Waiting bool `json:"waiting,omitempty"`
	Idle    bool `json:"idle,omitempty"`
	// Ask is a record that no lease pays soon, zero when there is none, and
	// AskNo its number.
	Ask   Amount `json:"ask"`
	AskNo uint64 `json:"ask_no,omitempty"`
	// Whole is the last ask by whose grant a record passed, WholeAge how long ago.
	Whole    uint64        `json:"whole,omitempty"`
	WholeAge time.Duration `json:"whole_age,omitempty"`
	// Owed is what of a record that was granted whole a second has not paid
	// yet: a new master has to know.
	Owed Amount `json:"owed"`
}

// Use is an amount of a lease that was passed on, by the worker's clock so long
// ago.
type Use struct {
	Seq    uint64        `json:"seq"`
	Age    time.Duration `json:"age"`
	Amount Amount        `json:"amount"`
}

// Back is an amount of a lease that was not used. What has not opened yet may be
// leased again only from then on.
type Back struct {
	Seq    uint64        `json:"seq"`
	Opens  time.Duration `json:"opens,omitempty"`
	Amount Amount        `json:"amount"`
}
