package stream

import (
	"io"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/connector/connectortest"
)

func TestSourceContract(t *testing.T) {
	o := SourceOptions{Rows: 9000, SplitRows: 4000, Nulls: 0.1}
	all := o
	all.SplitRows = o.Rows
	connectortest.RunSource(t, connectortest.SourceHarness{
		New:  func(t testing.TB) connector.Source { return newSource(t, o) },
		Rows: connectortest.ReadAll(t, newSource(t, all)),
	})
}

func TestSinkContract(t *testing.T) {
	for name, out := range map[string]io.Writer{"swallowing": nil, "printing": io.Discard} {
		t.Run(name, func(t *testing.T) {
			connectortest.RunSink(t, connectortest.SinkHarness{
				NewTarget: func(testing.TB) connectortest.Target {
					return connectortest.Target{Open: func() connector.Sink { return NewSink(out) }}
				},
				KeepsNothing: true,
			})
		})
	}
}
