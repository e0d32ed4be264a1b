package dmarc

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/mailhelm/mailhelm/core/domainauth/lookup"
	reports "github.com/mailhelm/mailhelm/core/domainauth/resolver"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

// Lookups ask DNS about domains and senders. All fields are nil if the configuration has no name
// servers.
type Lookups struct {
	Resolver lookup.Resolver
	// Senders has the networks of known senders. [Reports.Follow] refreshes them.
	Senders *lookup.Senders
	// Reverse finds the names of addresses.
	Reverse *lookup.Reverse
}

// NewLookups returns Lookups through the configured name servers. They make no query yet.
// Answers are remembered for seconds, because many domains include the same SPF records.
func NewLookups(cfg config.Config) Lookups {
	if cfg.NoDNS() {
		return Lookups{}
	}
	existence := resolver.System()
	if len(cfg.DNSServers) > 0 {
		existence = &resolver.Resolver{Servers: cfg.DNSServers}
	}
	standard := resolver.Through(cfg.DNSServers...)
	standard.StrictErrors = true // a failed query is not an answer without records
	dns := reports.New(verify.Remember(standard, existence, cfg.Clock), existence)
	return Lookups{Resolver: dns, Senders: lookup.NewSenders(dns, cfg.Clock), Reverse: lookup.NewReverse(dns, cfg.Clock)}
}

// refreshEvery is how often it is looked which networks of known senders are due.
const refreshEvery = 5 * time.Minute

// networks returns a function that returns the networks of known senders, nil without DNS. The first
// call may wait until ctx ends.
func (l Lookups) networks(ctx context.Context) func() *sources.SenderNetworks {
	if l.Senders == nil {
		return nil
	}
	return func() *sources.SenderNetworks { return l.Senders.Networks(ctx) }
}

// follow refreshes the networks of known senders until ctx ends.
func (l Lookups) follow(ctx context.Context) {
	if l.Senders == nil {
		return
	}
	ticker := time.NewTicker(refreshEvery)
	defer ticker.Stop()
	l.Senders.Follow(ctx, ticker.C)
}
