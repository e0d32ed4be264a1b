package incoming

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/scanners"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/judging"
	"github.com/mailhelm/mailhelm/core/inbound/processing"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
)

// openProcessing creates what accepts messages and what processes them.
func (p *Parts) openProcessing(n Needs, domains, reports inbound.Destination) error {
	spam, virus, err := scanners.Open(n.Config, n.Metrics)
	if err != nil {
		return err
	}
	judge := judging.Judge{Authenticator: newAuthenticator(n.Config), Spam: spam, Virus: virus, Log: n.Config.Log}
	p.processor = processing.New(processing.Config{
		Queue: n.Received, Stores: p.Stores, Transactor: n.Transactor, Judge: judge.Judge, Extract: found, Observe: observeProcessed(n.Metrics),
		Clock: n.Config.Clock, Log: n.Config.Log,
		Destinations: map[inbound.Kind]inbound.Destination{
			inbound.ToInbox: p.Inboxes.Destination(), inbound.ToDomain: domains, inbound.ToDeletedDomain: domains,
			inbound.ToReports: reports,
		},
	})
	wake, own := p.processor.Wake, inbound.Worker(p.processor)
	if n.Config.Role == config.API {
		p.announcer = newAnnouncer(n.Accepted, n.Config.Log)
		wake, own = p.announcer.wake, nil
	}
	p.spool = spool.New(spool.Config{Stores: p.Stores, Queue: n.Received, Worker: own, Wake: wake, Count: countAccepted(n.Metrics), Log: n.Config.Log})
	return nil
}
