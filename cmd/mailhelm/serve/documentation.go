package serve

import (
	"log/slog"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest/docs"
	"github.com/prometheus/client_golang/prometheus"
)

// Documentation returns the documentation of a server with these public addresses, without
// starting a server. Its operations can be described and not be called.
func Documentation(public config.Public, commit string, log *slog.Logger) (*docs.Site, error) {
	guard := guardrails.New(guardrails.Config{Clock: core.SystemClock, Metrics: prometheus.NewRegistry()})
	return docs.New(documentationOf(public, guard.Catalogue(catalogue.Operations(catalogue.Domains{})), commit, log))
}

// documentationOf returns the configuration of the documentation.
func documentationOf(public config.Public, operations *guardrails.Catalogue, commit string, log *slog.Logger) docs.Config {
	return docs.Config{
		Catalogue: operations, Tools: toolNames(operations), BaseURL: public.API, AuthURL: public.Auth, AppURL: public.App,
		MCPURL: public.MCP, FetchURL: public.Fetch, DocsURL: public.Docs, Commit: commit, Log: log,
	}
}
