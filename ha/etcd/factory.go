package etcd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/blobdir"
	"github.com/leatdata/leat/ha/internal/services"
	"github.com/leatdata/leat/internal/storage"
)

// Factory makes services of the configuration's keys: it is a ha.Factory.
func Factory(ctx context.Context, cfg ha.Config) (ha.Services, error) {
	options, err := ParseOptions(cfg.Options)
	if err != nil {
		return nil, err
	}
	if text, ok := cfg.Options[sessionTimeoutKey]; ok {
		if cfg.SessionTimeout, err = time.ParseDuration(text); err != nil {
			return nil, fmt.Errorf("high-availability.%s: %w: %w", sessionTimeoutKey, ha.ErrConfig, err)
		}
	}
	return New(ctx, cfg, options)
}

// New makes services of options. It does not wait for the store. A session timeout
// is rounded up to whole seconds; the store may give a longer one.
func New(_ context.Context, cfg ha.Config, options Options) (ha.Services, error) {
	cfg, options = cfg.WithDefaults(), options.WithDefaults()
	err := options.Validate()
	if cfg.StorageDir == "" {
		err = errors.Join(err, fmt.Errorf("high-availability.storageDir: it is required with etcd, for blobs: %w", ha.ErrConfig))
	}
	if err != nil {
		return nil, err
	}
	cfg.SessionTimeout = time.Duration(seconds(cfg.SessionTimeout)) * time.Second
	dir := filepath.Join(cfg.StorageDir, "blobs", filepath.FromSlash(blobFolder(cfg)))
	return services.New(services.Config{
		Config: cfg, Store: newStore(cfg, options), Blobs: blobdir.New(storage.Local{}, dir), Clock: options.Clock,
	}), nil
}
