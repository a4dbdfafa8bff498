package cli

import (
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/leatdata/leat/internal/local"
)

// barSteps is the length of the whole bar in the library's counting.
const barSteps = 10_000

// bar shows one live line on a terminal, from the first update on: a job that
// cannot begin has none.
type bar struct {
	w   io.Writer
	job string

	mu    sync.Mutex
	meter meter
	// container and line of the library; nil before the first update and
	// after stop.
	container *mpb.Progress
	bar       *mpb.Bar
}

func newBar(job string, w io.Writer) *bar { return &bar{w: w, job: job} }

// show makes the line.
func (b *bar) show() {
	b.container = mpb.New(mpb.WithOutput(b.w), mpb.WithWidth(30), mpb.WithAutoRefresh(), mpb.WithRefreshRate(150*time.Millisecond))
	b.bar = b.container.AddBar(barSteps,
		mpb.PrependDecorators(decor.Name(b.job+" ")),
		mpb.AppendDecorators(decor.Any(func(decor.Statistics) string { return " " + b.line() })),
	)
}

func (b *bar) line() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.meter.line()
}

func (b *bar) update(p local.Progress) {
	b.mu.Lock()
	if b.container == nil {
		b.show()
	}
	b.meter.add(time.Now(), p)
	line := b.bar
	b.mu.Unlock()
	// The last step is left to stop, so that the bar never ends before the job.
	line.SetCurrent(int64(min(max(p.Share, 0), 1) * (barSteps - 1)))
}

func (b *bar) stop() {
	b.mu.Lock()
	container, line := b.container, b.bar
	b.container, b.bar = nil, nil
	done := b.meter.last.Share >= 1
	b.mu.Unlock()
	if container == nil {
		return
	}
	if done {
		line.SetCurrent(barSteps)
	} else {
		line.Abort(false)
	}
	container.Wait()
}

// writer lets lines pass above the bar.
func (b *bar) writer() io.Writer { return &aboveBar{bar: b} }

// aboveBar writes above a bar that lives, and plainly before and after.
type aboveBar struct{ bar *bar }

// Write implements io.Writer.
func (a *aboveBar) Write(line []byte) (int, error) {
	a.bar.mu.Lock()
	container := a.bar.container
	a.bar.mu.Unlock()
	if container != nil {
		if n, err := container.Write(line); err == nil {
			return n, nil
		}
	}
	return a.bar.w.Write(line)
}
