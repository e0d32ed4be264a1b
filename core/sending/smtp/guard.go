package smtp

import (
	"net"
	"net/netip"

	"github.com/mailhelm/mailhelm/core/outbound"
)

// mailPorts are where public servers take mail from their users.
var mailPorts = []uint16{25, 465, 587, 2465, 2525, 2587}

// guardedDialer reaches servers that a customer named: on the public Internet, and in
// the networks that the operator allows.
func guardedDialer(allowed []netip.Prefix) *net.Dialer {
	return &net.Dialer{Control: outbound.New(allowed, mailPorts...).Control}
}
