package process

import (
	"context"
	"errors"
	"time"
)

// Command is a program and its arguments. Env is added to our own environment.
// From is a program whose output it reads, as behind a "|".
type Command struct {
	Path string
	Args []string
	Env  []string
	From *Command
}

// Usage is what a run has taken.
type Usage struct {
	// Wall is the time from the start of the first program to the end of the last.
	Wall time.Duration
	// Client is the processor time of the programs, Server of the servers' trees.
	Client, Server time.Duration
	// MaxRSS is the peak of resident memory in bytes, of the largest program. The
	// kernel counts our own into it, from before the program replaced us: less
	// than about 15 MB cannot be told apart.
	MaxRSS int64
}

// Measure runs programs side by side to their end and returns what they, and
// meanwhile the processes below the servers, have used. A program that fails
// fails the run, with what it wrote to its standard error.
func Measure(ctx context.Context, servers []int, commands ...Command) (Usage, error) {
	var u Usage
	before, err := treesTime(servers)
	if err != nil {
		return u, err
	}
	start := time.Now()
	var running []*program
	var errs []error
	for _, c := range commands {
		started, err := launch(c)
		running = append(running, started...)
		if err != nil {
			errs = append(errs, err)
			break
		}
	}
	for _, p := range running {
		if err := p.wait(ctx); err != nil {
			errs = append(errs, err)
			continue
		}
		r := p.child.Usage()
		u.Client += time.Duration(r.Utime.Nano() + r.Stime.Nano())
		u.MaxRSS = max(u.MaxRSS, r.Maxrss*1024)
	}
	u.Wall = time.Since(start)
	after, err := treesTime(servers)
	u.Server = after - before
	return u, errors.Join(append(errs, err)...)
}

func treesTime(servers []int) (time.Duration, error) {
	var total time.Duration
	for _, server := range servers {
		t, err := TreeTime(server)
		if err != nil {
			return 0, err
		}
		total += t
	}
	return total, nil
}
