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
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/memory"
)

// stopTimeout limits how long a stopping server waits for calls in flight.
const stopTimeout = 15 * time.Second

// Command is `mailhelm serve`. It has the same settings as `mailhelm doctor` and `mailhelm
// config`, so that those commands examine what the server would do.
type Command struct {
	config.Settings
	LogLevel string `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"info" group:"process"`
}

// Help returns the text that --help shows below the summary.
func (Command) Help() string {
	return `By default everything runs in one process on SQLite. On first start the service creates what is missing in the data folder: the database, the master key and a simulated sending account. Logs are JSON lines on standard error.

SIGINT or SIGTERM stops the service in order. First /readyz answers 503 and answers close their connections, while the service accepts calls for the time of --drain-delay. Then it accepts no more calls, and calls in flight may finish for up to 15 seconds. A second signal ends it at once.

Without --drain-delay the first step takes no time, which is right for a single server. With several servers behind a proxy, the delay must be longer than the time in which the proxy notices the 503 and closes idle connections. 10s fits the proxies of the guide "Run several servers behind a proxy" and the grace period of 30 seconds of Kubernetes and systemd.

Examples:

    mailhelm serve --data /var/lib/mailhelm
    mailhelm serve --config /etc/mailhelm.toml --log-level debug
    mailhelm serve --database-url postgres://mailhelm@db/mailhelm --role worker
    mailhelm serve --api-addr :8080 --app-addr :8080 --mcp-addr :8080 --fetch-addr :8080 \
        --base-url https://api.example.com --auth-url https://auth.example.com \
        --app-url https://app.example.com --mcp-url https://mcp.example.com \
        --fetch-url https://fetch.example.com --asset-url https://images.example.net`
}

// Run runs a server until the process receives a signal. It logs all addresses once they
// answer. The exit status is 0 after a signal, and 1 if starting, listening or stopping
// failed.
func (c *Command) Run(p *cli.Program) error {
	log, level, err := p.LeveledLogger(c.LogLevel)
	if err != nil {
		return err
	}
	cfg := c.Server()
	cfg.LogLevel = level
	cfg.Log, cfg.Build = log, config.Build(cli.Build())
	memory.Set(cfg)
	h, err := Start(p.Ctx, cfg)
	if err != nil {
		return err
	}
	h.ReleaseMemory(p.Ctx)
	a := h.Addresses()
	log.Info("ready", "role", cfg.Role, "engine", h.DB().Engine(), "version", cfg.Build.Version, "commit", cfg.Build.Commit,
		"base_url", a.API, "auth_url", a.Auth, "app_url", a.App, "mcp_url", a.MCP, "fetch_url", a.Fetch, "asset_url", a.Asset,
		"smtp", a.SMTP, "admin", a.Admin)
	return h.RunUntilSignal(p.Ctx)
}

// RunUntilSignal waits until ctx ends or a listener fails, then stops the host. After the end
// of ctx it accepts calls for [config.Config.DrainDelay]. Calls in
// flight may take another 15 seconds. It returns the error of the listener or of stopping.
// Call it once.
func (h *Host) RunUntilSignal(ctx context.Context) error {
	log := h.cfg.Log
	var failure error
	select {
	case <-ctx.Done():
		// Restore the default handling of signals before the next log line. A user who reads
		// that line may send a second signal, which must end the process. The function main
		// restores it too, but possibly later.
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		h.letProxiesGo()
		log.Info("stopping: finishing calls in flight", "at_most", stopTimeout)
	case failure = <-h.Failed():
		log.Error("stopping: a listener failed", "error", failure)
	}
	// After a signal ctx has ended, so Stop gets another context, which gives calls in
	// flight the time stopTimeout.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := h.Stop(last); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	log.Info("stopped")
	return failure
}

// letProxiesGo makes the readiness 503 and waits for the drain delay, in which calls are
// accepted and their answers close the connections. It returns earlier if a listener fails. A
// worker has no callers, so it does not wait.
func (h *Host) letProxiesGo() {
	if h.cfg.DrainDelay == 0 || h.cfg.Role == config.Worker {
		return
	}
	h.readiness.Drain()
	h.servers.EndKeepAlive()
	h.cfg.Log.Info("draining: not ready, and still accepting calls", "for", h.cfg.DrainDelay)
	delay := time.NewTimer(h.cfg.DrainDelay)
	defer delay.Stop()
	select {
	case <-delay.C:
	case err := <-h.Failed():
		h.cfg.Log.Error("a listener failed while draining", "error", err)
	}
}

// Abandon stops a host when setting it up fails after [Start] has returned. It returns the
// given error, joined with an error of stopping. It waits at most 15 seconds for calls in
// flight.
func (h *Host) Abandon(cause error) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return errors.Join(cause, h.Stop(ctx))
}
