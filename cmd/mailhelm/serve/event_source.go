package serve

import (
	"net/http"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/simulatedevents"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/rest/ingest"
)

// eventSource returns the handler that receives events about sent mail from sending
// accounts, and notifications of mail that Amazon SES received for them. It is served at the
// API's address. The API's authentication and rate limits do not apply to it, because the senders
// have no Mailhelm credential. It authenticates each event by the signature of the notification,
// or by the ingest key.
func eventSource(
	cfg config.Config, public config.Public, s *stores, domains catalogue.Domains, simulated *simulatedevents.Events, seen observers,
) http.Handler {
	amazon := ingest.NewAmazon(ingest.AmazonConfig{
		Fetch: ingest.NewFetcher(ingest.FetcherConfig{Client: cfg.AmazonClient}), Roots: cfg.NotificationCAs, Clock: cfg.Clock,
	})
	return ingest.New(ingest.Config{
		Connections: s.connections,
		Events:      messages.NewBatch(domains.Messages),
		Amazon:      amazon,
		Simulator:   simulated,
		Mail:        s.incoming.FromSES, MailRegions: cfg.ReceiveSESRegions,
		DocsURL: public.Docs, Clock: cfg.Clock, Log: cfg.Log, Metrics: seen.metrics,
		Tracing: rest.NewTracing(seen.tracer, public.API, cfg.Clock),
	})
}
