// Package shared has what the processes of an installation tell each other by the database: the
// public addresses. A process that answers callers stores its own; a worker, which writes links
// into mail, takes them over.
package shared

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/installation"
)

// Publish stores the public addresses of a process that answers callers, in the database and,
// for commands that cannot open it, in the data folder.
func Publish(ctx context.Context, cfg config.Config, public config.Public, store installation.Store) error {
	text, err := json.Marshal(public)
	if err != nil {
		return err
	}
	return errors.Join(cfg.Publish(public), store.SetFact(ctx, installation.Addresses, string(text), cfg.Clock()))
}

// Published returns the public addresses of the process that answers callers and started last.
// All are "" if none has started, or if the stored ones are invalid.
func Published(ctx context.Context, store installation.Store) (config.Public, error) {
	text, err := store.Fact(ctx, installation.Addresses)
	if err != nil {
		return config.Public{}, fmt.Errorf("public addresses: %w", err)
	}
	var public config.Public
	if json.Unmarshal([]byte(text), &public) != nil || public.Check() != nil {
		return config.Public{}, nil
	}
	return public, nil
}

// ForWorker returns the public addresses for the links that a worker writes: those that its
// configuration has, and for the others those of the process that answers callers. derived are
// the addresses of the worker alone. It logs a warning for each configured address that differs,
// and if no process has stored addresses yet.
func ForWorker(ctx context.Context, cfg config.Config, derived config.Public, store installation.Store) (config.Public, error) {
	published, err := Published(ctx, store)
	if err != nil {
		return config.Public{}, err
	}
	if published == (config.Public{}) {
		cfg.Log.WarnContext(ctx, "no server has stored its public addresses yet: links in mail have those of this worker", "app_url", derived.App)
		return derived, nil
	}
	result := derived
	for _, one := range []struct {
		flag          string
		into          *string
		given, served string
	}{
		{"--base-url", &result.API, cfg.Public.API, published.API},
		{"--auth-url", &result.Auth, cfg.Public.Auth, published.Auth},
		{"--app-url", &result.App, cfg.Public.App, published.App},
		{"--mcp-url", &result.MCP, cfg.Public.MCP, published.MCP},
		{"--fetch-url", &result.Fetch, cfg.Public.Fetch, published.Fetch},
		{"--asset-url", &result.Asset, cfg.Public.Asset, published.Asset},
		{"--docs-url", &result.Docs, cfg.Public.Docs, published.Docs},
	} {
		switch {
		case one.given == "":
			*one.into = one.served
		case one.given != one.served:
			cfg.Log.WarnContext(ctx, "this worker has another public address than the servers: links in mail lead to it. Give all processes the same, or leave it out here",
				"setting", one.flag, "here", one.given, "servers", one.served)
		}
	}
	return result, nil
}
