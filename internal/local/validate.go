package local

import (
	"context"
	"time"

	"github.com/leatdata/leat/batch"
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/job"
	"github.com/leatdata/leat/ratelimit"
)

// Report is what a job would do.
type Report struct {
	// Columns pair the source's with the target's.
	Columns []ReportColumn
	// Splits is the number found within the time that Validate gives itself;
	// AllSplits says that these are all, with the sums of their estimates.
	Splits      int
	AllSplits   bool
	Bytes, Rows int64
	// Parallelism is the number of subtasks.
	Parallelism int
	// Limit is what the job may pass on per second, zero for no limit.
	Limit     ratelimit.Amount
	Guarantee connector.Guarantee
	// Creates says that the target will be made.
	Creates bool
	// Filter says where the where runs; empty without one.
	Filter string
	// Source and Sink are what the two ends say of themselves.
	Source, Sink []string
	Statements   []string
	Doubts       []string
}

// ReportColumn is a column on its way.
type ReportColumn struct {
	From     string
	FromType batch.Type
	To       string
	ToType   batch.Type
}

// Validate finds out what a job would do, and changes nothing.
func (r *Runner) Validate(ctx context.Context, j *job.Job) (Report, error) {
	x := &execution{Runner: r, job: j}
	a, err := x.assemble(ctx, &runRecord{})
	if err != nil {
		return Report{}, err
	}
	defer a.close(r.deps.Log)
	rep := Report{
		Parallelism: a.slots, Limit: limitOf(j), Guarantee: a.plan.Guarantee, Creates: a.plan.Creates,
		Statements: a.plan.Statements, Doubts: a.plan.Doubts,
	}
	rep.columns(a)
	if j.Where != "" {
		rep.Filter = "in Leat, record by record"
		if a.pushed {
			rep.Filter = "in the source, as its own SQL"
		}
	}
	if rep.Source, err = description(ctx, a.source); err != nil {
		return rep, err
	}
	if rep.Sink, err = description(ctx, a.sink); err != nil {
		return rep, err
	}
	return rep, rep.splits(ctx, a)
}

func (rep *Report) columns(a *assembly) {
	for i, to := range a.plan.Schema.Fields {
		c := ReportColumn{From: "a constant", FromType: a.mapper.Out().Fields[i].Type, To: to.Name, ToType: to.Type}
		if source := a.columns[i].Source; source >= 0 {
			c.From, c.FromType = a.schema.Fields[source].Name, a.schema.Fields[source].Type
		}
		rep.Columns = append(rep.Columns, c)
	}
}

func description(ctx context.Context, end any) ([]string, error) {
	if d, ok := end.(connector.Describer); ok {
		return d.Describe(ctx)
	}
	return nil, nil
}

// splitTime bounds how long Validate looks for splits.
const splitTime = 5 * time.Second

func (rep *Report) splits(ctx context.Context, a *assembly) error {
	deadline := time.Now().Add(splitTime)
	var cursor connector.Cursor
	for {
		e, err := a.source.Enumerate(ctx, cursor, connector.SplitID(rep.Splits), a.want)
		if err != nil {
			return err
		}
		for _, s := range e.Splits {
			rep.Splits++
			rep.Bytes += s.Bytes
			rep.Rows += s.Rows
		}
		if rep.AllSplits = e.Done; e.Done {
			rep.Parallelism = min(rep.Parallelism, max(1, rep.Splits))
			return nil
		}
		if time.Now().After(deadline) {
			return nil
		}
		cursor = e.Next
	}
}
