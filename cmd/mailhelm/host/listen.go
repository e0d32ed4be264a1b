package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
)

// Port is an address to listen on.
type Port struct {
	// Service is api, app, mcp, fetch, smtp or admin.
	Service string
	Addr    string
}

// Flag is what sets the address.
func (p Port) Flag() string { return "--" + p.Service + "-addr" }

// shares: web services that name the same address share it, and the Host header
// tells them apart. SMTP has no such header, and the admin address must not be
// reachable through a public one.
func (p Port) shares() bool { return p.Service != smtpService && p.Service != adminService }

// The services that listen.
const (
	apiService   = "api"
	appService   = "app"
	mcpService   = "mcp"
	fetchService = "fetch"
	smtpService  = "smtp"
	adminService = "admin"
)

// Ports lists what a process of this configuration listens on.
func (c Config) Ports() []Port {
	admin := Port{adminService, c.Listen.Admin}
	if c.Role == Worker {
		return []Port{admin}
	}
	return []Port{
		{apiService, c.Listen.API}, {appService, c.Listen.App}, {mcpService, c.Listen.MCP},
		{fetchService, c.Listen.Fetch}, {smtpService, c.Listen.SMTP}, admin,
	}
}

// listeners are the open ports by service.
type listeners map[string]net.Listener

// listen opens every port that the role needs, or none.
func listen(ctx context.Context, cfg Config) (listeners, error) {
	open := listeners{}
	byAddr := map[string]net.Listener{}
	for _, p := range cfg.Ports() {
		if first, taken := byAddr[p.Addr]; taken && p.shares() {
			open[p.Service] = first
			continue
		}
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.Addr)
		if err != nil {
			return nil, errors.Join(listenError(p, err), open.close())
		}
		open[p.Service] = l
		if p.shares() && !strings.HasSuffix(p.Addr, ":0") {
			byAddr[p.Addr] = l
		}
	}
	return open, nil
}

func listenError(p Port, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is taken: stop what listens there, or choose another address with %s, or six others in a row with --port", p.Addr, p.Flag())
	}
	return fmt.Errorf("%s %s: %w", p.Flag(), p.Addr, err)
}

// bound is where the services listen in fact: with the ports that the system
// chose. What this process does not open stays as configured.
func (open listeners) bound(configured Listen) Listen {
	addr := func(service, otherwise string) string {
		if l, ok := open[service]; ok {
			return l.Addr().String()
		}
		return otherwise
	}
	return Listen{
		API: addr(apiService, configured.API), App: addr(appService, configured.App),
		MCP: addr(mcpService, configured.MCP), Fetch: addr(fetchService, configured.Fetch),
		SMTP: addr(smtpService, configured.SMTP), Admin: addr(adminService, configured.Admin),
	}
}

func (open listeners) close() error {
	var failures []error
	for _, l := range open {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}
