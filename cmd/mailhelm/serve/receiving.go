package serve

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/dmarc"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/mailin"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
)

// newReceived returns what receives, publishes and delivers the mail of receiving domains.
func newReceived(cfg config.Config, s *stores) *mailin.Domains {
	deliveries, log := s.db.ReceivedDeliveries(), s.db.ReceivedLog()
	return mailin.New(cfg, mailin.Stores{
		Domains: s.db.ReceivingDomains(), Log: log, Ending: log, Routes: s.db.ReceivingRoutes(), Deliveries: deliveries, Queue: deliveries, Identities: s.db.Channels(),
		Objects: s.incoming.Stores, Transactor: s.db, Audit: s.db.Audit(), Sealer: s.master, DNS: outgoing.NewDNS(s.connections),
	})
}

// newReports returns what reads DMARC reports and measures domains.
func newReports(cfg config.Config, s *stores) *dmarc.Reports {
	return dmarc.New(cfg, dmarc.Stores{
		Files: s.db.ReportArrivals(), Reports: s.db.DMARCReports(), Objects: s.incoming.Stores, Transactor: s.db, Audit: s.db.Audit(), Lookups: dmarc.NewLookups(cfg), Recipients: s.db.Handover(),
		Notices: s.db.DomainNotices(), Readers: dmarc.Readers{Members: s.db.Members(), Users: s.db.Users()}, Senders: outgoing.Senders{Store: s.db.Channels(), Orgs: s.db.Orgs()},
		Domains: s.db.DomainAuth(), Measuring: s.db.DomainMeasuring(), Tokens: s.db.Channels(), Connections: s.connections, Queue: s.queue, Orgs: s.db.Orgs().OrgIDs,
	})
}
