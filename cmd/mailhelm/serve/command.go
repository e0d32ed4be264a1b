package serve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// stopTimeout bounds how long calls in flight may take to finish.
const stopTimeout = 15 * time.Second

// Command is `mailhelm serve`. It shares its settings with `mailhelm doctor` and
// `mailhelm config`, so that both examine what serve would do.
type Command struct {
	config.Settings
	LogLevel string `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"info" group:"process"`
}

// Help returns the text that --help shows below the summary.
func (Command) Help() string {
	return `By default everything runs in one process on SQLite. On first start the service creates what is missing in the data folder: the database, the master key and a simulated sending account. Logs are JSON lines on standard error.

SIGINT or SIGTERM stops the service in order: calls in flight may finish for up to 15 seconds. A second signal ends it at once.

Examples:

    mailhelm serve --data /var/lib/mailhelm
    mailhelm serve --config /etc/mailhelm.toml --log-level debug
    mailhelm serve --database-url postgres://mailhelm@db/mailhelm --role worker
    mailhelm serve --api-addr :8080 --app-addr :8080 --mcp-addr :8080 --fetch-addr :8080 \
        --base-url https://api.example.com --auth-url https://auth.example.com \
        --app-url https://app.example.com --mcp-url https://mcp.example.com \
        --fetch-url https://fetch.example.com`
}

// Run serves until a signal. It logs one line with all addresses when every address
// answers. The exit status is 0 after a signal, and 1 if the start, a listener or the
// stop failed.
func (c *Command) Run(p *cli.Program) error {
	log, err := p.Logger(c.LogLevel)
	if err != nil {
		return err
	}
	cfg := c.Server()
	cfg.Log, cfg.Build = log, config.Build(cli.Build())
	h, err := Start(p.Ctx, cfg)
	if err != nil {
		return err
	}
	h.TuneMemory(p.Ctx)
	a := h.Addresses()
	log.Info("ready", "role", cfg.Role, "engine", h.DB().Engine(), "version", cfg.Build.Version, "commit", cfg.Build.Commit,
		"base_url", a.API, "auth_url", a.Auth, "app_url", a.App, "mcp_url", a.MCP, "fetch_url", a.Fetch,
		"smtp", a.SMTP, "admin", a.Admin)
	return h.RunUntilSignal(p.Ctx)
}

// RunUntilSignal waits until ctx ends or a listener fails, and stops the host. It
// returns the failure of the listener, if any. Calls in flight get 15 seconds. Call it
// once.
func (h *Host) RunUntilSignal(ctx context.Context) error {
	log := h.cfg.Log
	var failure error
	select {
	case <-ctx.Done():
		// main resets the signals too, but some time after ctx ends. A reader of the next
		// line may send the second signal at once.
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		log.Info("stopping: finishing calls in flight", "at_most", stopTimeout)
	case failure = <-h.Failed():
		log.Error("stopping: a listener failed", "error", failure)
	}
	// The signal has ended ctx; calls in flight get a deadline of their own.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := h.Stop(last); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	log.Info("stopped")
	return failure
}

// Abandon stops a host whose start failed at a later step. It returns the cause, joined
// with the error of stopping. It waits at most 15 seconds.
func (h *Host) Abandon(cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(cause, h.Stop(ctx))
}
