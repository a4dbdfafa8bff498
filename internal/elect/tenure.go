package elect

import (
	"context"
	"os"
	"time"
)

// tenure follows one candidacy, and decides what comes of its runs. It belongs to
// the controller's goroutine.
type tenure struct {
	*controller
	candidate *candidacy
	// signalled: a signal ends the process, as soon as the command has ended.
	signalled bool
	// unhealthy: the candidacy ends, as soon as the command has.
	unhealthy bool
}

// follow goes on until the candidacy is to be ended. Nothing of a command is left
// when it returns, unless ctx has ended.
func (t *tenure) follow(ctx context.Context) error {
	for {
		var err error
		select {
		case e := <-t.candidate.endings:
			err = t.ended(e)
		case s := <-t.cfg.Signals:
			err = t.signal(s)
		case v := <-t.verdicts:
			t.ill = v.ill
			err = t.judge()
		case err = <-t.candidate.fatal:
			if t.candidate.running() != nil {
				err = nil
				break
			}
			err = explain(err)
		case <-ctx.Done():
			return ctx.Err()
		}
		if err != nil {
			return err
		}
	}
}

// signal passes a signal on; without a command it ends the process.
func (t *tenure) signal(s os.Signal) error {
	n, end := ends(s)
	if !end {
		if r := t.candidate.running(); r != nil {
			r.order(order{Signal: n})
		}
		return nil
	}
	r := t.candidate.leave()
	switch {
	case r == nil:
		return &Exit{Code: 128 + n}
	case t.signalled:
		t.cfg.Logger.Warn("the command is killed: this is the second signal", "signal", s.String())
		r.order(order{Kill: true})
	default:
		t.cfg.Logger.Info("the command is told to end", "signal", s.String())
		r.order(order{Signal: n})
	}
	t.signalled = true
	return nil
}

// judge leaves the election when this process is not healthy.
func (t *tenure) judge() error {
	if t.ill == nil || t.unhealthy || t.signalled {
		return nil
	}
	t.cfg.Logger.Warn("this process leaves the election until it is healthy again", "error", t.ill)
	t.unhealthy = true
	r := t.candidate.leave()
	if r == nil {
		return errAgain
	}
	r.order(order{Stop: true})
	return nil
}

// ended says what follows from a command's end; nil: it goes on competing.
func (t *tenure) ended(e ending) error {
	t.candidate.took(e)
	ran := time.Since(e.began)
	switch {
	case t.signalled:
		return &Exit{Code: e.code}
	case t.unhealthy:
		return errAgain
	case e.lost:
		t.cfg.Logger.Warn("the command was ended; this process goes on competing", "reason", e.why)
		return nil
	case e.failed != "" && !t.cfg.Restart:
		return cannotRun(t.cfg, e.code, e.failed)
	case !t.cfg.Restart:
		return &Exit{Code: e.code}
	}
	t.cfg.Logger.Info("the command has ended; this process competes again", "code", e.code, "error", e.failed)
	t.candidate.leave()
	return &pauseError{pause: t.restartPause(ran)}
}
