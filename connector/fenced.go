package connector

// A process that was held up (stopped, or cut off from the target) may go on
// with a run that another process has gone on with meanwhile, from a copy of
// the state. The errors here tell its user what has become of the run.

// FinishedElsewhere is the Fenced error of a run that another process has finished.
func FinishedElsewhere(run string) error {
	return Errorf(Fenced, "another process has finished run %s: all its records are in the target, and the state at hand is an old copy; there is nothing left to do, or begin anew with --restart", run)
}

// GivenUpElsewhere is the Fenced error of a run that another process has given up.
func GivenUpElsewhere(run string) error {
	return Errorf(Fenced, "another process has given up run %s for a newer one, and the state at hand is an old copy; go on with the state of that process, or begin anew with --restart", run)
}

// TakenElsewhere is the Fenced error of an attempt whose split belongs to
// another one; the engine hears none of those that it replaced itself.
func TakenElsewhere(run string, split SplitID, owner Token) error {
	return Errorf(Fenced, "another process goes on with run %s: split %d belongs to attempt %s by now, and the state at hand is an old copy; let that process end the run, or begin anew with --restart once it has ended", run, split, owner)
}
