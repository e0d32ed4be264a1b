package arrivals

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/inbound"
)

const (
	// prefix is in front of the token in the local part of report addresses.
	prefix = "dmarc-"
	// tokenLength and tokenLetters describe tokens: 128 bits in base32 (RFC 4648), in lower case.
	tokenLength  = 26
	tokenLetters = "abcdefghijklmnopqrstuvwxyz234567"
	// remembered is how long a router keeps a token that it found, and rememberedTokens how many.
	remembered       = 10 * time.Minute
	rememberedTokens = 100_000
	// maxLookups is how many tokens that are not in memory a router looks up in a second.
	maxLookups = 50
)

// errBusy is the error for an address that is not looked up now. The sender tries again later.
var errBusy = errors.New("domainauth: too many unknown report addresses are asked for")

// Router finds the domains of report addresses. It is a part of an [inbound.Router]. It is safe
// for use by several goroutines.
type Router struct {
	store  RouteStore
	domain string
	clock  core.Clock
	known  *cache.Cache[string, Target]

	mu      sync.Mutex
	second  time.Time // in which lookups were counted
	lookups int
}

// AddressOf returns the address for the reports of the domain with a token, at the domain of
// temporary inboxes.
func AddressOf(token, domain string) string { return prefix + token + "@" + domain }

// NewRouter returns a Router for addresses at the domain of temporary inboxes, which is in lower
// case with A-labels.
func NewRouter(store RouteStore, domain string, clock core.Clock) *Router {
	return &Router{store: store, domain: domain, clock: clock, known: cache.New[string, Target](rememberedTokens)}
}

// Route returns the route to the domain of a report address. It returns [inbound.NoSuchInbox] for
// an address of this form with an unknown token, like for an inbox that does not exist, and
// [inbound.NotOurs] for any other address. Strangers can guess addresses, so it asks the database
// for a limited number of unknown tokens in a second, and fails beyond that.
func (r *Router) Route(ctx context.Context, address string) (inbound.Route, inbound.Refusal, error) {
	local, found := strings.CutSuffix(core.EmailKey(address), "@"+r.domain)
	token, isReports := strings.CutPrefix(local, prefix)
	if !found || !isReports || !isToken(token) {
		return inbound.Route{}, inbound.NotOurs, nil
	}
	target, err := r.target(ctx, token)
	if core.IsNotFound(err) {
		return inbound.Route{}, inbound.NoSuchInbox, nil
	}
	if err != nil {
		return inbound.Route{}, inbound.Accepted, err
	}
	return inbound.Route{
		Kind: inbound.ToReports, OrgID: target.OrgID, TargetID: target.DomainID, Recipient: address, LocalPart: local, Domain: r.domain,
	}, inbound.Accepted, nil
}

func isToken(text string) bool {
	return len(text) == tokenLength && strings.Trim(text, tokenLetters) == ""
}

// target returns the domain with a token, from memory if it is known.
func (r *Router) target(ctx context.Context, token string) (Target, error) {
	now, epoch := r.clock(), r.known.Epoch()
	if known, ok := r.known.Get(token, now); ok {
		return known, nil
	}
	if !r.mayLookUp(now) {
		return Target{}, errBusy
	}
	found, err := r.store.TokenDomain(ctx, token)
	if err == nil {
		r.known.Put(token, found, now.Add(remembered), epoch)
	}
	return found, err
}

// mayLookUp counts a lookup. It reports false if there were too many in this second.
func (r *Router) mayLookUp(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if second := now.Truncate(time.Second); !second.Equal(r.second) {
		r.second, r.lookups = second, 0
	}
	r.lookups++
	return r.lookups <= maxLookups
}
