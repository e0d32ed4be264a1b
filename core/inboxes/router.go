package inboxes

import (
	"context"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/inbound"
)

const (
	// rememberedAddresses is the maximum number of addresses that a Router keeps in memory.
	rememberedAddresses = 100_000
	// remembered is how long mail is still accepted for inboxes of an organization that was
	// deleted.
	remembered = 5 * time.Second
)

// Router finds the inboxes of recipients. It is a part of an [inbound.Router]. It is safe for
// use by several goroutines.
type Router struct {
	store  Store
	domain string
	clock  core.Clock
	// known has addresses that were minted. An address never gets another inbox while it is
	// stored, so only unknown addresses are looked up each time.
	known *cache.Cache[string, Target]
}

// NewRouter returns a Router for addresses at a domain, which is in lower case with A-labels.
func NewRouter(store Store, domain string, clock core.Clock) *Router {
	return &Router{store, domain, clock, cache.New[string, Target](rememberedAddresses)}
}

// Route returns the route to the inbox of an address, also if the inbox has ended, because its
// mail is then dropped and counted. It returns [inbound.NoSuchInbox] for an address at the
// domain that was never minted, and [inbound.NotOurs] for other domains.
func (r *Router) Route(ctx context.Context, address string) (inbound.Route, inbound.Refusal, error) {
	key := core.EmailKey(address)
	local, found := strings.CutSuffix(key, "@"+r.domain)
	if !found {
		return inbound.Route{}, inbound.NotOurs, nil
	}
	target, err := r.target(ctx, local)
	if core.IsNotFound(err) {
		return inbound.Route{}, inbound.NoSuchInbox, nil
	}
	if err != nil {
		return inbound.Route{}, inbound.Accepted, err
	}
	return inbound.Route{
		Kind: inbound.ToInbox, OrgID: target.OrgID, TargetID: target.InboxID, Recipient: address, LocalPart: local, Domain: r.domain,
	}, inbound.Accepted, nil
}

// target returns the inbox with a local part, from memory if it is known.
func (r *Router) target(ctx context.Context, local string) (Target, error) {
	now, epoch := r.clock(), r.known.Epoch()
	if known, ok := r.known.Get(local, now); ok {
		return known, nil
	}
	found, err := r.store.Address(ctx, local)
	if err == nil {
		r.known.Put(local, found, now.Add(remembered), epoch)
	}
	return found, err
}
