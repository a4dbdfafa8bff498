package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/leatdata/leat/internal/jobmaster"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/ratelimit"
)

// printSummary prints how a job ended: as text, or as one JSON object.
func printSummary(w io.Writer, form string, s local.Summary) error {
	if form == "json" {
		return json.NewEncoder(w).Encode(s)
	}
	_, err := io.WriteString(w, summaryText(s))
	return err
}

func summaryText(s local.Summary) string {
	parts := []string{count(s.Read) + " read", count(s.Written) + " written"}
	for _, c := range []struct {
		n    int64
		what string
	}{{s.Filtered, "filtered"}, {s.Dirty, "dirty"}, {s.Merged, "merged"}, {s.Refused, "refused by the target"}} {
		if c.n > 0 {
			parts = append(parts, count(c.n)+" "+c.what)
		}
	}
	speed := ""
	if s.Seconds > 0 && s.State != jobmaster.Failed {
		speed = fmt.Sprintf(", %s rows/s", rate(float64(s.Read)/s.Seconds))
	}
	if limit := limitText(ratelimit.Amount{Bytes: s.LimitBytes, Records: s.LimitRecords}); limit != "" {
		speed += fmt.Sprintf(", limit %s, waited %s for it, all subtasks together", limit, span(time.Duration(s.Waited*float64(time.Second))))
	}
	took := span(time.Duration(s.Seconds * float64(time.Second)))
	return fmt.Sprintf("%s: %s in %s: %s (%s in, %s out%s)\n",
		s.Job, stateText(s.State), took, strings.Join(parts, ", "), size(s.BytesRead), size(s.BytesWritten), speed)
}

func stateText(o jobmaster.Outcome) string {
	switch o {
	case jobmaster.Done:
		return "done"
	case jobmaster.DoneWithDirty:
		return "done, with dirty records,"
	case jobmaster.Stopped:
		return "stopped"
	}
	return "failed"
}
