package receiving

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"golang.org/x/net/idna"
)

// RefreshEvery is how often a router reads what was published. A receiver knows a change this
// long after its publication at most.
const RefreshEvery = 2 * time.Second

// Router finds the routes of addresses at receiving domains. It keeps all published domains in
// memory, so that a lookup asks no database. It is safe for concurrent use.
type Router struct {
	store RoutingStore
	clock core.Clock
	log   *slog.Logger

	refreshing sync.Mutex // one refresh at a time

	mu      sync.RWMutex
	version int
	entries map[string]RouteEntry // by name; nil before the first refresh
}

var _ inbound.Router = (*Router)(nil)

// NewRouter returns a Router that has read nothing yet.
func NewRouter(store RoutingStore, clock core.Clock, log *slog.Logger) *Router {
	return &Router{store: store, clock: clock, log: log}
}

// Follow reads what was published at each tick until ctx ends. While the database does not
// answer, the router uses what it knows.
func (r *Router) Follow(ctx context.Context, ticks <-chan time.Time) {
	ctx = core.WithLane(ctx, core.Background)
	failing := false
	for {
		err := r.Refresh(ctx)
		if err != nil && ctx.Err() == nil && !failing {
			r.log.WarnContext(ctx, "the routing of receiving domains is not read, so changes wait", "error", err)
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// Refresh reads what was published since the last call.
func (r *Router) Refresh(ctx context.Context) error {
	r.refreshing.Lock()
	defer r.refreshing.Unlock()
	r.mu.RLock()
	version := r.version
	r.mu.RUnlock()
	changed, err := r.store.Since(ctx, version)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.entries == nil {
		r.entries = map[string]RouteEntry{}
	}
	for _, e := range changed {
		r.entries[e.Name] = e
		r.version = max(r.version, e.Version)
	}
	return nil
}

// Route implements [inbound.Router] for receiving domains. A deleted domain has a route for the
// duration Remembered. Route fails only if nothing was ever read.
func (r *Router) Route(ctx context.Context, address string) (inbound.Route, inbound.Refusal, error) {
	local, domain, ok := split(address)
	if !ok {
		return inbound.Route{}, inbound.NotOurs, nil
	}
	e, found, err := r.entry(ctx, domain)
	if err != nil || !found {
		return inbound.Route{}, inbound.NotOurs, err
	}
	route := inbound.Route{Kind: inbound.ToDomain, OrgID: e.OrgID, TargetID: e.DomainID, Recipient: address, LocalPart: local, Domain: domain}
	if e.RemovedAt != nil {
		route.Kind = inbound.ToDeletedDomain
		if !r.clock().Before(e.RemovedAt.Add(Remembered)) {
			return inbound.Route{}, inbound.NotOurs, nil
		}
	}
	return route, inbound.Accepted, nil
}

// entry returns the entry of a domain. Before the first refresh it makes one.
func (r *Router) entry(ctx context.Context, domain string) (RouteEntry, bool, error) {
	r.mu.RLock()
	e, found := r.entries[domain]
	unread := r.entries == nil
	r.mu.RUnlock()
	if !unread {
		return e, found, nil
	}
	if err := r.Refresh(ctx); err != nil {
		return RouteEntry{}, false, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	e, found = r.entries[domain]
	return e, found, nil
}

// split returns the local part of an address in lower case, and the domain in lower case with
// A-labels. It reports false for a text without either.
func split(address string) (string, string, bool) {
	at := strings.LastIndexByte(address, '@')
	if at < 1 || at == len(address)-1 {
		return "", "", false
	}
	domain := strings.TrimSuffix(address[at+1:], ".")
	if strings.ContainsFunc(domain, func(c rune) bool { return c >= utf8.RuneSelf }) {
		ascii, err := idna.Lookup.ToASCII(domain)
		if err != nil {
			return "", "", false
		}
		domain = ascii
	}
	return strings.ToLower(address[:at]), strings.ToLower(domain), true
}

// localPartOf returns the local part of an address in lower case, as routes have it.
func localPartOf(address string) string {
	local, _, _ := split(address)
	return local
}
