package attempts

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/throttle"
)

// The limits on requests for links that reset a password: for each network, and for each
// pair of a network and an address. Each allows a number of requests at once, and one more
// after each period in its Refill constant. No limit refuses an address as a whole.
const (
	linksPerNetwork   = 10
	linkNetworkRefill = time.Minute
	linksPerPair      = 3
	linkPairRefill    = 5 * time.Minute
)

type linkLimits struct{ byNetwork, byPair *throttle.Throttle }

func newLinkLimits() linkLimits {
	return linkLimits{throttle.New(linksPerNetwork, linkNetworkRefill), throttle.New(linksPerPair, linkPairRefill)}
}

// AdmitLink counts a network's request for a link that resets the password of an address.
// It fails with rate_limited after too many such requests.
func (l *Limits) AdmitLink(email, client string) error {
	now := l.Clock()
	wait := l.links.byNetwork.Take(client, now)
	if wait == 0 {
		wait = l.links.byPair.Take(pairOf(email, client), now)
	}
	if wait == 0 {
		return nil
	}
	return &core.Error{
		Code: core.CodeRateLimited, RetryAfter: ceilSeconds(wait),
		Message: "Too many password links were requested.", Next: "Look for the mail that was sent, or wait " + waitText(wait) + " and request another link.",
	}
}
