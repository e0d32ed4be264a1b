package serve

import (
	"slices"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/images"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/network"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/simulatedevents"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/oauth"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/rest/beacon"
	"github.com/mailhelm/mailhelm/rest/docs"
	"github.com/mailhelm/mailhelm/rest/githook"
	"github.com/mailhelm/mailhelm/rest/ingest"
	"github.com/mailhelm/mailhelm/rest/pull"
	"github.com/mailhelm/mailhelm/tools"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"
)

// observers receive metrics and tracing spans of calls.
type observers struct {
	metrics prometheus.Registerer
	tracer  trace.Tracer // nil if tracing is off
}

// surfaces returns the sites of all HTTP services except the admin address. All operations
// get the same authentication, rate limits and audit. It also sets s.principals and
// the handler of simulated events. Call it once, before s.follow and simulated.Follow.
func surfaces(cfg config.Config, public config.Public, s *stores, domains catalogue.Domains, simulated *simulatedevents.Events, seen observers) ([]network.Site, error) {
	tokens, err := authorization(cfg, public, s)
	if err != nil {
		return nil, err
	}
	issuer, err := oauth.New(tokens)
	if err != nil {
		return nil, err
	}
	guard := guardrails.New(guardrails.Config{
		Authenticator: tokens.Principals,
		Transactor:    s.db, Replays: s.db.Replay(), Process: s.process, Audit: s.db.Audit(), ConfirmationSecret: s.confirm,
		SharedBuckets: s.sharedBuckets(), SharedTimeout: cfg.RedisTimeout,
		Clock: cfg.Clock, Log: cfg.Log, Metrics: seen.metrics, Tracer: seen.tracer,
		ExpensiveSlots: s.db.ExpensiveSlots(), Usage: s.usage, Repositories: s.repository.Proposals,
	})
	operations := guard.Catalogue(operationsOf(cfg, domains))
	api, err := rest.New(rest.Config{
		Catalogue: operations, BaseURL: public.API, AuthURL: public.Auth, DocsURL: public.Docs,
		Commit: cfg.Build.Commit, Clock: cfg.Clock, Log: cfg.Log, Tracer: seen.tracer,
	})
	if err != nil {
		return nil, err
	}
	agents, err := tools.New(tools.Config{
		Catalogue: operations, MCPURL: public.MCP, AuthURL: public.Auth, DocsURL: public.Docs,
		AllowedOrigins: cfg.AllowedOrigins, Commit: cfg.Build.Commit, Version: cfg.Build.Version,
		Clock: cfg.Clock, Log: cfg.Log, Tracer: seen.tracer,
	})
	if err != nil {
		return nil, err
	}
	documentation, err := docs.New(documentationOf(public, operations, cfg.Build.Commit, cfg.Log))
	if err != nil {
		return nil, err
	}
	events := eventSource(cfg, public, s, domains, simulated, seen)
	simulated.ServeBy(events)
	fetch, err := s.incoming.FetchHost()
	if err != nil {
		return nil, err
	}
	called, err := s.site.Route(s.app.Route(s.repository, routeBelow(ingest.Path, events, api.Handler())))
	if err != nil {
		return nil, err
	}
	web := []network.Site{
		{
			Service: config.APIService, Origin: public.API, Handler: network.ShowClient(called, tokens.Proxies.Remote),
			Routes: append(api.Paths(), ingest.SESPath+"{path}", githook.Path, beacon.Path+"/{file}"),
		},
		{Service: config.MCPService, Origin: public.MCP, Handler: agents.Handler(), Routes: tools.Paths()},
		{Service: config.FetchService, Origin: public.Fetch, Handler: fetch, Routes: pull.Paths(files.LinkPath)},
	}
	if public.Asset != "" {
		web = append(web, images.Site(public, s.db.PublicAssets(), s.incoming.Stores, cfg.Log))
	}
	pages, err := peoplePages(cfg, public, s, domains, issuer, tokens.Principals, guard, operations)
	if err != nil {
		return nil, err
	}
	return append(web, appSites(public, issuer.Handler(), documentation, pages)...), nil
}

// toolNames returns the names of the MCP tools that this server offers, which are those
// whose operation is in operations. The documentation lists only these.
func toolNames(operations *guardrails.Catalogue) []string {
	var names []string
	for _, name := range tools.Table() {
		if _, mounted := operations.Operation(name); mounted {
			names = append(names, name)
		}
	}
	return names
}

// operationsOf returns the built-in operations, and those of the configuration.
func operationsOf(cfg config.Config, domains catalogue.Domains) []core.Operation {
	builtIn := slices.DeleteFunc(catalogue.Operations(domains), func(op core.Operation) bool {
		return slices.ContainsFunc(cfg.Operations, func(other core.Operation) bool { return other.Info().Name == op.Info().Name })
	})
	return slices.Concat(builtIn, cfg.Operations)
}
