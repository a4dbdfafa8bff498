package local_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/leatdata/leat/connector"
	"github.com/leatdata/leat/internal/connectors/stream"
	"github.com/leatdata/leat/internal/local"
	"github.com/leatdata/leat/job"
)

type placedSource struct {
	connector.Source
	identity connector.Identity
}

func (s placedSource) Identify(context.Context) (connector.Identity, error) { return s.identity, nil }

type placedSink struct {
	connector.Sink
	identity connector.Identity
}

func (s placedSink) Identify(context.Context) (connector.Identity, error) { return s.identity, nil }

// placed is the stream connector with places.
func placed(source, sink connector.Identity) *connector.Definition {
	d := stream.Definition()
	newSource, newSink := d.Source.New, d.Sink.New
	d.Source.New = func(options any, env connector.SourceEnv) (connector.Source, error) {
		s, err := newSource(options, env)
		return placedSource{s, source}, err
	}
	d.Sink.New = func(options any, env connector.SinkEnv) (connector.Sink, error) {
		s, err := newSink(options, env)
		return placedSink{s, sink}, err
	}
	return d
}

// A job that reads what it writes is refused; one that perhaps does is doubted.
func TestSourceAndSinkAreOnePlace(t *testing.T) {
	places := func(p ...string) connector.Identity { return connector.Identity{Places: p} }
	behind := func(p ...string) connector.Identity { return connector.Identity{Behind: p} }
	for _, c := range []struct {
		name            string
		source, sink    connector.Identity
		refused, doubts bool
	}{
		{"the same", places("a"), places("a"), true, false},
		{"a part", places("part"), places("whole", "part"), true, false},
		{"another", places("a"), places("b"), false, false},
		{"a view", behind("a"), places("a"), false, true},
		{"into a view", places("a"), behind("a"), false, true},
		{"from view to view", behind("a"), behind("a"), false, true},
		{"a view of another", behind("a"), places("b"), false, false},
		{"unknown", places(), places(), false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := connector.NewRegistry(placed(c.source, c.sink))
			if err != nil {
				t.Fatal(err)
			}
			j, err := job.Parse([]byte("name: self\nsource: {stream: {rows: 10}}\nsink: {stream: {}}\n"), "job.yaml", job.Vars{}, r)
			if err != nil {
				t.Fatal(err)
			}
			runner := local.New(local.Deps{Registry: r})
			rep, err := runner.Validate(t.Context(), j)
			if refused := connector.ClassOf(err) == connector.Usage; refused != c.refused || (err != nil) != c.refused {
				t.Fatalf("validate: %v", err)
			}
			if doubted := slices.ContainsFunc(rep.Doubts, func(d string) bool { return strings.Contains(d, "seems to read") }); doubted != c.doubts {
				t.Errorf("doubts %q", rep.Doubts)
			}
			if _, err := runner.Run(t.Context(), j, local.Options{StateDir: t.TempDir()}); (connector.ClassOf(err) == connector.Usage) != c.refused || (err != nil) != c.refused {
				t.Errorf("run: %v", err)
			}
		})
	}
}
