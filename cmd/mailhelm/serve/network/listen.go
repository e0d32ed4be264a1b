package network

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// Listeners maps each service, by its name in package config, to its open listener. Web
// services with the same listen address have the same listener.
type Listeners map[string]net.Listener

// Listen opens a listener on the address of each port. If one fails, it closes the others
// and returns an error that names the flag of the address; for a taken address it is a
// [config.AddressInUse]. Services with port 0 each get their own port.
func Listen(ctx context.Context, ports []config.Port) (Listeners, error) {
	open := Listeners{}
	byAddr := map[string]net.Listener{}
	for _, p := range ports {
		if first, taken := byAddr[p.Addr]; taken && p.Shares() {
			open[p.Service] = first
			continue
		}
		l, err := listenOn(ctx, p.Addr)
		if err != nil {
			return nil, errors.Join(listenError(p, err), open.Close())
		}
		open[p.Service] = l
		if p.Shares() && !strings.HasSuffix(p.Addr, ":0") {
			byAddr[p.Addr] = l
		}
	}
	return open, nil
}

// listenError returns the error for an address on which the process cannot listen: a
// config.AddressInUse, or an error that names the flag that sets the address.
func listenError(p config.Port, err error) error {
	if config.IsInUse(err) {
		return &config.AddressInUse{Port: p}
	}
	return fmt.Errorf("%s %s: %w", p.Flag(), p.Addr, err)
}

// BoundAddresses returns the listen addresses with the ports that the system chose.
// Services without a listener in this process keep their configured address.
func (open Listeners) BoundAddresses(configured config.Listen) config.Listen {
	addr := func(service, otherwise string) string {
		if l, ok := open[service]; ok {
			return l.Addr().String()
		}
		return otherwise
	}
	return config.Listen{
		API: addr(config.APIService, configured.API), App: addr(config.AppService, configured.App),
		MCP: addr(config.MCPService, configured.MCP), Fetch: addr(config.FetchService, configured.Fetch),
		Asset: addr(config.AssetService, configured.Asset),
		SMTP:  addr(config.SMTPService, configured.SMTP), Admin: addr(config.AdminService, configured.Admin),
	}
}

// Close closes all listeners and returns the errors. It may be repeated, because a closed
// listener causes no error.
func (open Listeners) Close() error {
	var failures []error
	for _, l := range open {
		if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			failures = append(failures, err)
		}
	}
	return errors.Join(failures...)
}
