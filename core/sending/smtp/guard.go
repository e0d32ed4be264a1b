package smtp

import (
	"net"
	"net/netip"

	"github.com/mailhelm/mailhelm/core/outbound"
)

// mailPorts are the ports on which public servers accept mail from their users.
var mailPorts = []uint16{25, 465, 587, 2465, 2525, 2587}

// guardedDialer returns a dialer for servers that a customer named. It connects only to
// the public Internet and to the networks that the operator allows.
func guardedDialer(allowed []netip.Prefix) *net.Dialer {
	return &net.Dialer{Control: outbound.New(allowed, mailPorts...).Control}
}
