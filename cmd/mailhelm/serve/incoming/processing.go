package incoming

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/scanners"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/judging"
	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
)

// openProcessing creates what accepts messages and what processes them.
func (p *Parts) openProcessing(n Needs) error {
	spam, virus, err := scanners.Open(n.Config, n.Metrics)
	if err != nil {
		return err
	}
	judge := judging.Judge{Authenticator: newAuthenticator(n.Config), Spam: spam, Virus: virus, Log: n.Config.Log}
	p.destinations = map[inbound.Kind]inbound.Destination{inbound.ToInbox: p.Inboxes.Destination()}
	p.processor = processing.New(processing.Config{
		Queue: n.Received, Stores: p.Stores, Transactor: n.Transactor, Judge: judge.Judge, Clock: n.Config.Clock, Log: n.Config.Log,
		Destinations: p.destinations,
	})
	p.spool = spool.New(spool.Config{Stores: p.Stores, Queue: n.Received, Wake: p.processor.Wake, Log: n.Config.Log})
	return nil
}

// ReceiveDomains lets the parts also receive mail for receiving domains. Call it before the parts
// are used.
func (p *Parts) ReceiveDomains(r inbound.Router, d inbound.Destination) {
	p.router = append(p.router, r)
	p.destinations[inbound.ToDomain], p.destinations[inbound.ToDeletedDomain] = d, d
}
