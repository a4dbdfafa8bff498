package metrics_test

import (
	"fmt"

	"github.com/leatdata/leat/metrics"
)

func Example() {
	r := metrics.NewRegistry()
	task := r.Group("leat").Group("subtask").With("job", "orders").With("subtask", "3")
	task.Counter("errors", "dirty records").Add(2)
	for s := range r.Each {
		fmt.Println(s.Name, s.Labels, s.Value)
	}
	// Output: leat_subtask_errors_total [{job orders} {subtask 3}] 2
}
