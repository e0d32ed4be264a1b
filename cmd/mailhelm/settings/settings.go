package settings

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// Database says where things are kept.
type Database struct {
	Data        string `help:"Folder for the database, the keys and the simulated sending account." default:"./mailhelm-data" placeholder:"DIR" group:"storage"`
	DatabaseURL string `name:"database-url" help:"PostgreSQL, as postgres://user:password@host/name. Without it everything is in one SQLite file in the data folder." placeholder:"URL" group:"storage" secret:"url"`
}

// Settings of a server. Kong fills them in; the tags are the flags' help. What
// is empty follows from the rest; see [Settings.Host].
type Settings struct {
	Database

	RedisURL  string `name:"redis-url" help:"Redis in which processes share rate limits, as redis://:password@host:6379/0, or rediss:// for TLS. Without it each process counts for itself." placeholder:"URL" group:"storage" secret:"url"`
	NoMigrate bool   `help:"Do not bring the database's schema up to date at start; see 'mailhelm migrate'." group:"storage"`
	MasterKey string `hidden:"" secret:"whole" group:"storage"`

	Role string `help:"What this process does: all, api (answer calls) or worker (background jobs). Splitting needs PostgreSQL." enum:"all,api,worker" default:"all" group:"process"`

	ActivitiesPerMinute int `name:"activities-per-minute" help:"How many activities a minute an organization may send. What is more is refused, item by item." default:"2000" placeholder:"N" group:"process"`

	OTLPEndpoint string `name:"otlp-endpoint" help:"Collector that gets a span of each call, by OTLP over HTTP; /v1/traces is added. Default: OTEL_EXPORTER_OTLP_ENDPOINT; without either there are no spans." placeholder:"URL" group:"process"`

	BaseURL  string `name:"base-url" help:"Public address of the API. Default: http://localhost and the port of --api-addr; likewise below." placeholder:"URL" group:"public"`
	AuthURL  string `name:"auth-url" help:"Public address of the authorization server." placeholder:"URL" group:"public"`
	AppURL   string `name:"app-url" help:"Public address of the dashboard and the documentation. Default: the auth URL." placeholder:"URL" group:"public"`
	MCPURL   string `name:"mcp-url" help:"Public address of the agent endpoint, without /mcp." placeholder:"URL" group:"public"`
	FetchURL string `name:"fetch-url" help:"Public address of the pull host for temporary inboxes." placeholder:"URL" group:"public"`
	DocsURL  string `name:"docs-url" help:"Public address of the documentation. Default: the app URL and /docs." placeholder:"URL" group:"public"`

	AllowedOrigins []string `name:"allowed-origins" help:"Web origins whose pages may call the agent endpoint, separated by commas. Programs need none." placeholder:"URL" group:"public"`

	DynamicRegistration    bool     `name:"dynamic-registration" help:"Let OAuth clients register themselves (RFC 7591), for clients that know no other way. People still decide what each may do." group:"clients"`
	Introspection          bool     `name:"introspection" help:"Let OAuth clients with a secret ask whether tokens of their organization are good (RFC 7662)." default:"true" negatable:"" group:"clients"`
	ClientDocumentNetworks []string `name:"client-document-networks" help:"Networks in CIDR form, separated by commas, from which metadata documents of OAuth clients are fetched besides the public Internet. For clients inside a company." placeholder:"CIDR" group:"clients"`

	MailServerNetworks []string `name:"mail-server-networks" help:"Networks in CIDR form, separated by commas, in which SMTP servers may be that people connect in the dashboard, besides the public Internet. Those that 'mailhelm admin account connect' names may be anywhere." placeholder:"CIDR" group:"listen"`

	SystemSMTP string `name:"system-smtp" help:"The operator's own SMTP server for mail to people, such as links to reset a password, as smtp://user:password@host:587, or smtps:// for TLS from the beginning. Without it nothing is mailed." placeholder:"URL" group:"mail" secret:"url"`
	SystemFrom string `name:"system-from" help:"Sender of the mail to people, such as \"Mailhelm <mailhelm@example.com>\"." placeholder:"ADDRESS" group:"mail"`

	TrustedProxies []string `name:"trusted-proxies" help:"Networks in CIDR form, separated by commas, of proxies in front of this server. Their X-Forwarded-For says where a request comes from; nobody else's is believed." placeholder:"CIDR" group:"listen"`

	Port      int    `help:"First of six ports in a row for API, app, agents, fetch, SMTP and admin, in place of 8080 to 8083, 2525 and 9090." placeholder:"N" group:"listen"`
	APIAddr   string `name:"api-addr" help:"Where the API listens. Two services may share an address; the Host header then decides." placeholder:"HOST:PORT" group:"listen"`
	AppAddr   string `name:"app-addr" help:"Where the authorization server and the app listen." placeholder:"HOST:PORT" group:"listen"`
	MCPAddr   string `name:"mcp-addr" help:"Where the agent endpoint listens." placeholder:"HOST:PORT" group:"listen"`
	FetchAddr string `name:"fetch-addr" help:"Where the fetch host listens." placeholder:"HOST:PORT" group:"listen"`
	SMTPAddr  string `name:"smtp-addr" help:"Where mail is received." placeholder:"HOST:PORT" group:"listen"`
	AdminAddr string `name:"admin-addr" help:"Where /metrics, /readyz and /livez are. Not for the public." placeholder:"HOST:PORT" group:"listen"`
}

// Host is the configuration of a host that follows from the settings. Clock, log
// and build are the caller's to add.
func (s Settings) Host() config.Config {
	return config.Config{
		DataDir: s.Data, DatabaseURL: s.DatabaseURL, RedisURL: s.RedisURL, MasterKey: s.MasterKey, NoMigrate: s.NoMigrate,
		Role: config.Role(s.Role),
		Public: config.Public{
			API: s.BaseURL, Auth: s.AuthURL, App: s.AppURL, MCP: s.MCPURL, Fetch: s.FetchURL, Docs: s.DocsURL,
		},
		Listen: s.listen(), AllowedOrigins: s.AllowedOrigins,
		NoIntrospection: !s.Introspection, TrustedProxies: s.TrustedProxies,
		DynamicRegistration: s.DynamicRegistration, ClientDocumentNetworks: s.ClientDocumentNetworks,
		MailServerNetworks: s.MailServerNetworks, OTLPEndpoint: s.OTLPEndpoint, ActivitiesPerMinute: s.ActivitiesPerMinute,
		SystemSMTP: s.SystemSMTP, SystemFrom: s.SystemFrom,
	}
}

// listen is the addresses given one by one, and the row of ports for the rest.
func (s Settings) listen() config.Listen {
	l := config.DefaultListen()
	if s.Port > 0 {
		l = config.PortRow(s.Port)
	}
	for _, one := range []struct {
		into  *string
		given string
	}{
		{&l.API, s.APIAddr},
		{&l.App, s.AppAddr},
		{&l.MCP, s.MCPAddr},
		{&l.Fetch, s.FetchAddr},
		{&l.SMTP, s.SMTPAddr},
		{&l.Admin, s.AdminAddr},
	} {
		if one.given != "" {
			*one.into = one.given
		}
	}
	return l
}
