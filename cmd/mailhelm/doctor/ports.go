package doctor

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// ports tries to listen on each listen address, and closes the listener at once. If an
// address is in use, it checks whether a running Mailhelm listens there. An address that
// several services share is checked only once.
func (e *examination) ports(ctx context.Context) {
	var free, ours []string
	seen := map[string]bool{}
	for _, p := range e.cfg.Ports() {
		if seen[p.Addr] {
			continue
		}
		seen[p.Addr] = true
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", p.Addr)
		switch {
		case err == nil:
			l.Close() //nolint:errcheck // it was opened to see whether it can be
			free = append(free, p.Addr)
		case config.IsInUse(err) && p.Probe(ctx) == nil:
			ours = append(ours, p.Addr)
		default:
			e.addUnavailable(p, err)
		}
	}
	if len(ours) > 0 {
		e.add("ports", OK, "a running Mailhelm listens on "+strings.Join(ours, ", "), "")
	}
	if len(free) > 0 {
		e.add("ports", OK, "free: "+strings.Join(free, ", "), "")
	}
}

// addUnavailable adds a Fail for a listen address that a server could not use. The proposed
// next step depends on err: address in use, not permitted, or an invalid address.
func (e *examination) addUnavailable(p config.Port, err error) {
	switch {
	case config.IsInUse(err):
		e.add("ports", Fail, p.Addr+" is in use by another program", "Stop it, or choose another address with "+p.Flag()+".")
	case errors.Is(err, syscall.EACCES):
		e.add("ports", Fail, p.Addr+" needs a permission that this user lacks", "Choose a port above 1023 with "+p.Flag()+", or allow it: setcap cap_net_bind_service.")
	default:
		e.add("ports", Fail, p.Flag()+" "+p.Addr+": "+err.Error(), "Choose an address of this machine, as host:port.")
	}
}
