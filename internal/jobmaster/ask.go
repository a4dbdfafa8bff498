package jobmaster

import (
	"time"

	"github.com/leatdata/leat/connector"
)

// ask is an effect that is answered by an event: whether it is out, and how
// often it has failed. One that failed retryably is given again after a
// back-off, as often in a row as an attempt would be.
type ask struct {
	out       bool
	failures  int
	notBefore time.Duration
}

// give emits the effect unless it is out or has to wait.
func (m *Master) give(a *ask, e Effect) {
	if a.out || a.notBefore > m.now {
		return
	}
	a.out = true
	m.emit(e)
}

// answered takes the ask's answer, and reports whether it had been given.
func (a *ask) answered() bool {
	if !a.out {
		return false
	}
	*a = ask{}
	return true
}

// refused takes the ask's failure: it is given again later, or the job fails.
func (m *Master) refused(a *ask, f Failure) {
	a.out = false
	if f.Class != connector.Retryable {
		m.stop(Failed, &f)
		return
	}
	a.failures++
	if a.failures > m.cfg.Restart.Attempts {
		m.fail(connector.Permanent, "%d attempts in a row failed, the last with: %s", a.failures, f.Message)
		return
	}
	a.notBefore = m.now + m.cfg.Restart.wait(a.failures, connector.NewToken(m.cfg.Epoch, uint32(a.failures)))
}
