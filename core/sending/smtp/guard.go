package smtp

import (
	"net"
	"net/netip"

	"github.com/mailhelm/mailhelm/core/outbound"
)

// mailPorts are the ports on which public SMTP servers accept messages of their users.
var mailPorts = []uint16{25, 465, 587, 2465, 2525, 2587}

// guardedDialer returns a dialer for SMTP servers that a customer named. It connects only
// to the ports in mailPorts of public addresses, and to the networks that the operator
// allows.
func guardedDialer(allowed []netip.Prefix) *net.Dialer {
	return &net.Dialer{Control: outbound.New(allowed, mailPorts...).Control}
}
