package elect

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// bootTime is CLOCK_BOOTTIME: the same in all processes of a machine, it goes on
// while that is suspended, and nobody sets it.
func bootTime() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil {
		panic("clock_gettime(CLOCK_BOOTTIME): " + err.Error()) // Linux has it since 2.6.39
	}
	return time.Duration(t.Nano())
}

// alarm rings at a time of bootTime: at once when the machine wakes up after it.
type alarm struct {
	fd      int
	file    *os.File
	ring    chan struct{} // capacity 1
	reading sync.WaitGroup
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_BOOTTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w", err)
	}
	a := &alarm{fd: fd, file: os.NewFile(uintptr(fd), "timer"), ring: make(chan struct{}, 1)}
	a.reading.Go(func() {
		var expirations [8]byte
		for {
			if _, err := a.file.Read(expirations[:]); err != nil {
				return
			}
			select {
			case a.ring <- struct{}{}:
			default:
			}
		}
	})
	return a, nil
}

// set makes it ring at a time, or soon if that has passed; never silences it.
func (a *alarm) set(at time.Duration) error {
	var spec unix.ItimerSpec
	if at != never {
		spec.Value = unix.NsecToTimespec(int64(max(at, 1)))
	}
	if err := unix.TimerfdSettime(a.fd, unix.TFD_TIMER_ABSTIME, &spec, nil); err != nil {
		return fmt.Errorf("set a timer: %w", err)
	}
	return nil
}

func (a *alarm) close() {
	_ = a.file.Close()
	a.reading.Wait()
}
