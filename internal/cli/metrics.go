package cli

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/leatdata/leat/metrics"
)

// serveMetrics serves metrics at an address until stop, which waits for the
// server's end; at "" nothing is served.
func serveMetrics(address string, log *slog.Logger) (group *metrics.Group, stop func(), err error) {
	registry := metrics.NewRegistry()
	group = registry.Group("leat")
	if address == "" {
		return group, func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, nil, usagef("--metrics: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", registry.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("the metrics are not served any more", "error", err)
		}
	}()
	log.Info("metrics are served", "url", fmt.Sprintf("http://%s/metrics", listener.Addr()))
	return group, func() { _ = server.Close(); <-done }, nil
}
