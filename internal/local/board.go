package local

import (
	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/metrics"
)

// board shows how a job stands as metrics.
type board struct {
	read, written, dirty     *metrics.Gauge
	bytesRead, bytesWritten  *metrics.Gauge
	rates                    [4]*metrics.Gauge // as rateValues orders them
	splits, done             *metrics.Gauge
	limitBytes, limitRecords *metrics.Gauge
	waited                   *metrics.Gauge
}

func newBoard(g *metrics.Group) *board {
	const over = " per second, of all subtasks over the last 20 seconds"
	return &board{
		rates: [4]*metrics.Gauge{
			g.Gauge("read_records_per_second", "records read"+over),
			g.Gauge("read_bytes_per_second", "record bytes read"+over),
			g.Gauge("written_records_per_second", "records that became durable"+over),
			g.Gauge("written_bytes_per_second", "record bytes that became durable"+over),
		},
		read:         g.Gauge("read_records", "records read by the whole run, over all starts"),
		written:      g.Gauge("written_records", "records that the target has counted, over all starts"),
		dirty:        g.Gauge("dirty_records", "dirty records, over all starts"),
		bytesRead:    g.Gauge("read_bytes", "record bytes read, over all starts"),
		bytesWritten: g.Gauge("written_bytes", "record bytes written, over all starts"),
		splits:       g.Gauge("splits", "splits found so far"),
		done:         g.Gauge("splits_done", "splits that are done"),
		limitBytes:   g.Gauge("limit_bytes_per_second", "the job's limit on bytes, 0 for none"),
		limitRecords: g.Gauge("limit_records_per_second", "the job's limit on records, 0 for none"),
		waited:       g.Gauge("limit_wait_seconds", "time for which subtasks have waited for the limits, all together"),
	}
}

func (b *board) show(p Progress) {
	for _, v := range []struct {
		gauge *metrics.Gauge
		value int64
	}{
		{b.read, p.Read},
		{b.written, p.Written},
		{b.dirty, p.Dirty},
		{b.bytesRead, p.BytesRead},
		{b.bytesWritten, p.BytesWritten},
		{b.splits, int64(p.Splits)},
		{b.done, int64(p.Done)},
		{b.limitBytes, p.Limit.Bytes},
		{b.limitRecords, p.Limit.Records},
	} {
		v.gauge.Set(float64(v.value))
	}
	b.waited.Set(p.Waited.Seconds())
	for i, v := range rateValues(p.Rates) {
		b.rates[i].Set(v)
	}
}

func rateValues(r connector.Rates) [4]float64 {
	return [4]float64{r.Read, r.BytesRead, r.Written, r.BytesWritten}
}
