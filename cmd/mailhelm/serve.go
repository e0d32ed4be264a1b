package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/host"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/settings"
)

// stopTimeout bounds how long calls in flight may take to finish.
const stopTimeout = 15 * time.Second

type serveCommand struct {
	settings.Settings
	LogLevel string `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"info" group:"process"`
}

// Help is shown below the summary.
func (serveCommand) Help() string {
	return `Everything runs in one process on SQLite unless told otherwise. What the service needs and does not find in the data folder it makes: the database, the master key, a simulated sending account. Logs are JSON lines on standard error.

SIGINT or SIGTERM ends it in order: calls in flight finish, for at most 15 seconds. A second signal ends it at once.

Examples:

    mailhelm serve --data /var/lib/mailhelm
    mailhelm serve --config /etc/mailhelm.toml --log-level debug
    mailhelm serve --database-url postgres://mailhelm@db/mailhelm --role worker
    mailhelm serve --api-addr :8080 --app-addr :8080 --mcp-addr :8080 --fetch-addr :8080 \
        --base-url https://api.example.com --auth-url https://auth.example.com \
        --app-url https://app.example.com --mcp-url https://mcp.example.com \
        --fetch-url https://fetch.example.com`
}

// Run serves until a signal.
func (c *serveCommand) Run(p *program) error {
	log, err := p.logger(c.LogLevel)
	if err != nil {
		return err
	}
	cfg := c.Host()
	cfg.Log, cfg.Build = log, build()
	h, err := host.Start(p.ctx, cfg)
	if err != nil {
		return err
	}
	tuneMemory(p.ctx, h.DB(), log)
	a := h.Addresses()
	log.Info("ready", "role", cfg.Role, "engine", h.DB().Engine(), "version", cfg.Build.Version, "commit", cfg.Build.Commit,
		"base_url", a.API, "auth_url", a.Auth, "app_url", a.App, "mcp_url", a.MCP, "fetch_url", a.Fetch,
		"smtp", a.SMTP, "admin", a.Admin)
	return runUntilSignal(p.ctx, h, log)
}

// runUntilSignal waits for the end of ctx or of a listener and stops the host.
func runUntilSignal(ctx context.Context, h *host.Host, log *slog.Logger) error {
	var failure error
	select {
	case <-ctx.Done():
		// Here as well as in main, where it happens at some time soon: whoever reads
		// the next line may send the second signal at once.
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		log.Info("stopping: finishing calls in flight", "at_most", stopTimeout)
	case failure = <-h.Failed():
		log.Error("stopping: a listener failed", "error", failure)
	}
	// The signal has ended ctx; what is in flight gets time of its own.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := h.Stop(last); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	log.Info("stopped")
	return failure
}

// stopNow ends a host that never came to serve anybody.
func stopNow(h *host.Host, cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(cause, h.Stop(ctx))
}
