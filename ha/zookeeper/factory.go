package zookeeper

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/leatdata/leat/ha"
	"github.com/leatdata/leat/ha/internal/blobdir"
	"github.com/leatdata/leat/ha/internal/services"
	"github.com/leatdata/leat/internal/storage"
	"github.com/leatdata/leat/zk"
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

// New makes services of options. It does not wait for the store.
func New(_ context.Context, cfg ha.Config, options Options) (ha.Services, error) {
	cfg, options = cfg.WithDefaults(), options.WithDefaults()
	err := options.Validate()
	if cfg.StorageDir == "" {
		err = errors.Join(err, fmt.Errorf("high-availability.storageDir: it is required with zookeeper, for blobs: %w", ha.ErrConfig))
	}
	store, storeErr := newStore(cfg, options)
	if err = errors.Join(err, storeErr); err != nil {
		return nil, err
	}
	dir := filepath.Join(cfg.StorageDir, "blobs", filepath.FromSlash(strings.TrimPrefix(clean(cfg.ClusterID), "/")))
	service := services.Config{Config: cfg, Store: store, Blobs: blobdir.New(storage.Local{}, dir)}
	if options.Clock != nil {
		service.Clock = options.Clock
	}
	return services.New(service), nil
}

// client is the configuration of a session's client.
func client(cfg ha.Config, options Options) zk.Config {
	c := zk.Config{
		Servers: options.Quorum, Chroot: clean(options.Root) + clean(cfg.ClusterID),
		SessionTimeout: cfg.SessionTimeout, Auth: options.Auth, TLS: options.TLS,
		RenewedByOwner: true, Dial: options.Dial, Clock: options.Clock, Logger: cfg.Logger,
	}
	if options.ACL == "creator" {
		c.ACL = zk.CreatorACL()
	}
	return c
}
