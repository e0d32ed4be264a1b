package inboundtest

import (
	"context"
	"errors"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// ErrRouter is the error of a [Router] for the local part "error".
var ErrRouter = errors.New("inboundtest: the routing cannot be read")

// Router routes by the address alone: mail to {inbox}@{organization}.example.com goes to the
// inbox {inbox} of that organization. The local part "error" makes it fail, and a local part
// that begins with "unknown" was never minted. Other domains receive no mail.
type Router struct{}

// Route returns the route of an address.
func (Router) Route(_ context.Context, address string) (inbound.Route, inbound.Refusal, error) {
	at := strings.LastIndexByte(address, '@')
	local, domain := strings.ToLower(address[:at]), strings.ToLower(address[at+1:])
	org, ours := strings.CutSuffix(domain, ".example.com")
	switch {
	case !ours:
		return inbound.Route{}, inbound.NotOurs, nil
	case strings.HasPrefix(local, "unknown"):
		return inbound.Route{}, inbound.NoSuchInbox, nil
	case local == "error":
		return inbound.Route{}, inbound.Accepted, ErrRouter
	}
	return inbound.Route{
		Kind: inbound.ToInbox, OrgID: org, TargetID: local, Recipient: address, LocalPart: local, Domain: domain,
	}, inbound.Accepted, nil
}
