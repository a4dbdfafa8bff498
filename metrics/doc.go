// Package metrics counts and measures: counters, gauges, meters, histograms and
// durations, in groups whose scopes and labels name them. A [Registry] is an
// instance of its own; there are no globals. It knows nothing of what it counts.
//
//	r := metrics.NewRegistry()
//	task := r.Group("leat").Group("subtask").With("job", "orders").With("subtask", "3")
//	read := task.Meter("read_records", "records taken from the source")
//	read.Mark(8192)
//	http.Handle("/metrics", r.Handler())
//
// gives leat_subtask_read_records_total and leat_subtask_read_records_per_second,
// both with the labels job="orders" and subtask="3".
//
// # Names
//
// A group's scope is the path of its names and labels from the registry on:
// Group adds a name below it, With a label. A metric's full name is the names of
// its scope and its own, joined by "_". Asking for the same metric of the same
// scope again returns it.
//
// What Prometheus would refuse is a bug of who makes it, and panics when it is made:
// a name or label that is not one, a label that the scope has already, a value that
// is not UTF-8, the label le, which buckets have, a name in use by another kind or
// with another help (a counter n and a gauge n_total are both n_total).
//
// # Cost
//
// Values are added batch by batch, and may be from any goroutine. Adding takes no
// memory, a counter one atomic addition, a meter and a histogram a short lock or a
// few more. Whoever reads (Handler, Each) pays for putting things together.
//
// # Life
//
// Group.Close takes a group's metrics, and those of the groups below it, out of
// the registry. Those who still hold them may go on adding; nobody sees it.
package metrics
