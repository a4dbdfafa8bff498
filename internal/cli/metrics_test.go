package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/stream"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/job"
	"github.com/leatdata/leat/metrics"
)

// The reference of the metrics is made from what a job registers:
//
//	go test ./internal/cli -run Reference -update
func TestMetricsReferenceIsGenerated(t *testing.T) {
	registry, err := connector.NewRegistry(stream.Definition())
	if err != nil {
		t.Fatal(err)
	}
	j, err := job.Parse([]byte("name: orders\nsource: {stream: {rows: 1000}}\nsink: {stream: {}}\nparallelism: 1\nspeed: {records: 1000000}\n"), "job.yaml", job.Vars{}, registry)
	if err != nil {
		t.Fatal(err)
	}
	r := metrics.NewRegistry()
	if _, err := local.New(local.Deps{Registry: registry, Metrics: r.Group("leat")}).Run(t.Context(), j, local.Options{StateDir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	checkGenerated(t, filepath.Join("docs", "metrics.md"), metricsReference(r), "what a job registers")
}

func metricsReference(r *metrics.Registry) []byte {
	var b bytes.Buffer
	b.WriteString(`# Metrics

Made from what a job registers, by ` + "`go test ./internal/cli -run Reference -update`" + `.

` + "`leat run JOB --metrics :9090`" + ` (and ` + "`leat copy`" + `) serves them under ` + "`/metrics`" + ` while the job runs, as
Prometheus reads them. Numbers of subtasks go on where they stood when an unfinished
run is gone on with, at any parallelism; what an attempt had read and not committed
is read again, and counts again here. The counters of the job are exact.

`)
	for _, g := range []struct{ title, prefix string }{{"Of the job", "leat_job_"}, {"Of each subtask", "leat_subtask_"}} {
		fmt.Fprintf(&b, "## %s\n\n| name | kind | labels | meaning |\n| --- | --- | --- | --- |\n", g.title)
		seen := map[string]bool{}
		for s := range r.Each {
			if seen[s.Name] || !strings.HasPrefix(s.Name, g.prefix) {
				continue
			}
			seen[s.Name] = true
			var labels []string
			for _, l := range s.Labels {
				labels = append(labels, l.Key)
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, s.Kind, strings.Join(labels, ", "), s.Help)
		}
		if g.prefix == "leat_job_" {
			b.WriteString("\n")
		}
	}
	b.WriteString(`
The causes of ` + "`leat_subtask_errors_total`" + `: null (NULL where none may be), duplicate (a
key that another record has), conversion (a record that could not be read, or a value
that is none of its column's type), other (checks, foreign keys, triggers, and the rest).
`)
	return b.Bytes()
}

// --metrics serves what the job does while it runs, and nothing after it.
func TestMetricsAreServedWhileAJobRuns(t *testing.T) {
	s := newShell(t)
	s.write("endless.yaml", "name: endless\nsource: {stream: {rows: 0}}\nsink: {stream: {}}\nspeed: {records: 1000}\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	pipe, log := io.Pipe()
	env := ProcessEnv()
	env.Stdout, env.Stderr = io.Discard, log
	code := make(chan int, 1)
	go func() {
		code <- Main(ctx, []string{"run", "endless.yaml", "--metrics", "127.0.0.1:0", "--state", "state"}, env)
		_ = log.Close()
	}()
	var said bytes.Buffer
	url := ""
	for buf := make([]byte, 4096); url == ""; {
		n, err := pipe.Read(buf)
		if err != nil {
			t.Fatalf("%v; it said %s", err, said.String())
		}
		said.Write(buf[:n])
		url = regexp.MustCompile(`http://\S+/metrics`).FindString(said.String())
	}
	go func() { _, _ = io.Copy(io.Discard, pipe) }()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for { // until the job has begun
		resp, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if text := string(body); strings.Contains(text, `leat_job_limit_records_per_second{job="endless"} 1000`) &&
			strings.Contains(text, `leat_subtask_read_records_total{job="endless",subtask="0"}`) {
			break
		}
	}
	cancel()
	if got := <-code; got != exitInterrupted {
		t.Errorf("exit code %d", got)
	}
	if resp, err := client.Get(url); err == nil {
		_ = resp.Body.Close()
		t.Error("metrics are served after the job")
	}
}
