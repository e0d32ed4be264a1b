package config

import "time"

// Database holds the flags that name the data folder and the database.
type Database struct {
	Data        string `help:"Folder for the database, the keys and the simulated sending account." default:"./mailhelm-data" placeholder:"DIR" group:"storage"`
	DatabaseURL string `name:"database-url" help:"PostgreSQL database, as postgres://user:password@host/name. Default: one SQLite file in the data folder." placeholder:"URL" group:"storage" secret:"url"`

	DatabaseDirectURL string `name:"database-direct-url" help:"The same PostgreSQL database without its pooler, if --database-url leads to PgBouncer with pool_mode=transaction or another pooler that keeps no sessions. Migrations and notifications between processes use it." placeholder:"URL" group:"storage" secret:"url"`
}

// Master holds the settings of the master key, which encrypts stored secrets. The key itself is
// no flag, because other users can read command lines.
type Master struct {
	MasterKey     string `hidden:"" secret:"whole" group:"storage"`
	MasterKeyPath string `name:"master-key-file" help:"File with the master key, 64 hexadecimal digits, readable only by its owner. Default: master.key in the data folder, which the first start creates. The environment variable MAILHELM_MASTER_KEY can have the key itself, and takes precedence." placeholder:"FILE" group:"storage"`
}

// Settings holds the settings of a server, as the command line parser fills them in. The
// struct tags define the flags and their help. Empty addresses are derived later; see
// [Settings.Server] and [Config.Complete].
type Settings struct {
	Database

	RedisURL  string `name:"redis-url" help:"Redis server through which processes share rate limits, as redis://:password@host:6379/0, or rediss:// for TLS. Default: each process counts on its own." placeholder:"URL" group:"storage" secret:"url"`
	NoMigrate bool   `help:"Do not apply migrations at start; see 'mailhelm migrate'." group:"storage"`
	Master

	DatabaseReplicaURL string        `name:"database-replica-url" help:"Streaming standby of the PostgreSQL database, for expensive reads of callers: reports, searches and previews. Default: none." placeholder:"URL" group:"storage" secret:"url"`
	DatabaseReplicaLag time.Duration `name:"database-replica-lag" help:"How old the data of the standby may be. Above it, the database itself is read." default:"5s" placeholder:"DURATION" group:"storage"`

	DatabaseConnections int    `name:"database-connections" help:"Connections to PostgreSQL that this process opens at most, from 4 up. Up to three more listen for notifications. Default: 16." placeholder:"N" group:"storage"`
	SQLiteReaders       int    `name:"sqlite-readers" help:"Connections for reads of callers on SQLite, from 1 to 64. Default: 6." placeholder:"N" group:"storage"`
	MemoryLimit         string `name:"memory-limit" help:"Memory that Go's garbage collector tries not to exceed, such as 768MiB or 2GiB, or off. Default: GOMEMLIMIT, or nine tenths of the memory of the container, or half of the memory of the machine." placeholder:"SIZE" group:"process"`

	Role string `help:"What this process does: all, api (answer calls) or worker (background jobs). Splitting needs PostgreSQL." enum:"all,api,worker" default:"all" group:"process"`

	DrainDelay time.Duration `name:"drain-delay" help:"After SIGTERM, how long this process still accepts calls while /readyz answers 503, so that proxies stop sending calls first. Behind a proxy with other servers use 10s." default:"0s" placeholder:"DURATION" group:"process"`

	ActivitiesPerMinute int `name:"activities-per-minute" help:"Activities that an organization may send in a minute. Further items are refused one by one." default:"2000" placeholder:"N" group:"process"`

	OTLPEndpoint string `name:"otlp-endpoint" help:"Collector that receives a span for each call, by OTLP over HTTP; /v1/traces is appended. Default: OTEL_EXPORTER_OTLP_ENDPOINT. Without either no spans are sent." placeholder:"URL" group:"process"`

	BaseURL  string `name:"base-url" help:"Public address of the API. Default: http://localhost with the port of --api-addr. The other addresses have defaults of the same form." placeholder:"URL" group:"public"`
	AuthURL  string `name:"auth-url" help:"Public address of the authorization server." placeholder:"URL" group:"public"`
	AppURL   string `name:"app-url" help:"Public address of the dashboard and the documentation. Default: the auth URL." placeholder:"URL" group:"public"`
	MCPURL   string `name:"mcp-url" help:"Public address of the agent endpoint, without /mcp." placeholder:"URL" group:"public"`
	FetchURL string `name:"fetch-url" help:"Public address of the pull host for temporary inboxes." placeholder:"URL" group:"public"`
	AssetURL string `name:"asset-url" help:"Public address of the images that mail shows, with a host of its own, such as https://images.example.net. Default: none, and the API shows no addresses of images." placeholder:"URL" group:"public"`
	DocsURL  string `name:"docs-url" help:"Public address of the documentation. Default: the app URL followed by /docs." placeholder:"URL" group:"public"`

	AllowedOrigins []string `name:"allowed-origins" help:"Web origins whose pages may call the agent endpoint, separated by commas. Programs outside browsers need no entry." placeholder:"URL" group:"public"`

	DynamicRegistration    bool     `name:"dynamic-registration" help:"Let OAuth clients register themselves (RFC 7591), for clients that support nothing else. People still consent to the permissions of each." group:"clients"`
	Introspection          bool     `name:"introspection" help:"Let OAuth clients with a secret check whether tokens of their organization are valid (RFC 7662)." default:"true" negatable:"" group:"clients"`
	ClientDocumentNetworks []string `name:"client-document-networks" help:"Private networks in CIDR form, separated by commas, from which metadata documents of OAuth clients may be fetched. For clients inside a company; the public Internet is always allowed." placeholder:"CIDR" group:"clients"`

	MailServerNetworks []string `name:"mail-server-networks" help:"Private networks in CIDR form, separated by commas, in which people may connect SMTP servers in the dashboard. The public Internet is always allowed, and so is every server given to 'mailhelm admin account connect'." placeholder:"CIDR" group:"listen"`

	WebhookNetworks []string `name:"webhook-networks" help:"Private networks in CIDR form, separated by commas, in which people may have webhook endpoints, on any port. The public Internet is always allowed, on port 443." placeholder:"CIDR" group:"listen"`

	SystemSMTP string `name:"system-smtp" help:"The operator's SMTP server for mail to people, such as links to reset a password and codes that verify senders: smtp://user:password@host:587, or smtps:// for implicit TLS. Without it no such mail is sent." placeholder:"URL" group:"mail" secret:"url"`
	SystemFrom string `name:"system-from" help:"Sender of the mail to people, such as \"Mailhelm <mailhelm@example.com>\"." placeholder:"ADDRESS" group:"mail"`

	InboxDomain       string   `name:"inbox-domain" help:"Domain of the addresses of temporary inboxes. Its MX record must name this server." default:"inbox.localhost" placeholder:"DOMAIN" group:"receiving"`
	MailHost          string   `name:"mail-host" help:"Host name of the SMTP server for incoming mail, which the MX records of receiving domains name." placeholder:"HOST" group:"receiving"`
	SMTPAddr          string   `name:"smtp-addr" help:"Where the SMTP server for incoming mail listens. Default: 127.0.0.1:2525." placeholder:"HOST:PORT" group:"receiving"`
	SMTPName          string   `name:"smtp-name" help:"Host name in the greeting of the SMTP server for incoming mail. Default: the mail host, or the host of the app URL." placeholder:"HOST" group:"receiving"`
	SMTPCert          string   `name:"smtp-cert" help:"PEM file with the certificate chain of the SMTP server for incoming mail. Changes apply at once. Default: a self-signed certificate, made at each start." placeholder:"FILE" group:"receiving"`
	SMTPKey           string   `name:"smtp-key" help:"PEM file with the key of that certificate." placeholder:"FILE" group:"receiving"`
	DNSServers        []string `name:"dns-servers" help:"Name servers for the checks of received mail (SPF, DKIM, DMARC), as host:port, separated by commas. Default: those of the system. With none, these verdicts are DISABLED." placeholder:"HOST:PORT" group:"receiving"`
	RspamdURL         string   `name:"rspamd-url" help:"rspamd that judges received mail, as the address of its normal worker: http://127.0.0.1:11333. Without it the spam verdict is DISABLED." placeholder:"URL" group:"receiving" secret:"url"`
	Clamd             string   `name:"clamd" help:"clamd of ClamAV that scans received mail for malware, as host:port or unix:/path. Without it the virus verdict is DISABLED." placeholder:"ADDRESS" group:"receiving"`
	BucketNetworks    []string `name:"bucket-networks" help:"Private networks in CIDR form, separated by commas, in which people may have buckets for received mail, on any port and without TLS. The public Internet is always allowed, on port 443." placeholder:"CIDR" group:"receiving"`
	ReceiveSESRegions []string `name:"receive-ses-regions" help:"Regions in which receiving by Amazon SES is set up, separated by commas, for receiving domains while --mail-host is not set." placeholder:"REGION" group:"receiving"`

	GitHubURL           string   `name:"github-url" help:"Address of GitHub, such as that of a GitHub Enterprise Server. Default: https://github.com." placeholder:"URL" group:"git"`
	GitHubApp           int64    `name:"github-app" help:"Id of the GitHub App through which organizations connect repositories. Its secrets are environment variables: MAILHELM_GITHUB_KEY, MAILHELM_GITHUB_CLIENT_SECRET and MAILHELM_GITHUB_WEBHOOK_SECRET." placeholder:"ID" group:"git"`
	GitHubKey           string   `name:"github-key" hidden:"" secret:"whole" group:"git"`
	GitHubClientSecret  string   `name:"github-client-secret" hidden:"" secret:"whole" group:"git"`
	GitHubWebhookSecret string   `name:"github-webhook-secret" hidden:"" secret:"whole" group:"git"`
	GitFolder           string   `name:"git-folder" help:"Folder below which repositories with definitions may be. The user of the server reads them, and adds branches with proposals. Every organization of the server may connect each of them. Without it repositories are on other servers only." placeholder:"FOLDER" group:"git"`
	GitNetworks         []string `name:"git-networks" help:"Private networks in CIDR form, separated by commas, in which servers with repositories may be, on any port. The public Internet is always allowed, on port 443." placeholder:"CIDR" group:"git"`

	TrustedProxies []string `name:"trusted-proxies" help:"Networks in CIDR form, separated by commas, of the proxies in front of this server. The address of a caller is taken from X-Forwarded-For only when a request comes from them." placeholder:"CIDR" group:"listen"`

	Port      int    `help:"First of six consecutive ports for API, app, agents, fetch, SMTP and admin, instead of 8080 to 8083, 2525 and 9090." placeholder:"N" group:"listen"`
	APIAddr   string `name:"api-addr" help:"Where the API listens. Several services may share an address; the Host header then selects one." placeholder:"HOST:PORT" group:"listen"`
	AppAddr   string `name:"app-addr" help:"Where the authorization server and the app listen." placeholder:"HOST:PORT" group:"listen"`
	MCPAddr   string `name:"mcp-addr" help:"Where the agent endpoint listens." placeholder:"HOST:PORT" group:"listen"`
	FetchAddr string `name:"fetch-addr" help:"Where the fetch host listens." placeholder:"HOST:PORT" group:"listen"`
	AssetAddr string `name:"asset-addr" help:"Where the asset host listens. Default: with --asset-url, where the fetch host listens; otherwise nowhere." placeholder:"HOST:PORT" group:"listen"`
	AdminAddr string `name:"admin-addr" help:"Where /metrics, /readyz and /livez are served. Keep it private." placeholder:"HOST:PORT" group:"listen"`
}

// Server returns the configuration of a server with these settings. The caller sets Clock,
// Log and Build.
func (s Settings) Server() Config {
	return Config{
		DataDir: s.Data, DatabaseURL: s.DatabaseURL, DatabaseDirectURL: s.DatabaseDirectURL, DatabaseReplicaURL: s.DatabaseReplicaURL, ReplicaLag: s.DatabaseReplicaLag, RedisURL: s.RedisURL, MasterKey: s.MasterKey, MasterKeyPath: s.MasterKeyPath, MaxConns: s.DatabaseConnections, SQLiteReaders: s.SQLiteReaders, MemoryLimit: s.MemoryLimit, NoMigrate: s.NoMigrate,
		Role: Role(s.Role), DrainDelay: s.DrainDelay,
		Public: Public{
			API: s.BaseURL, Auth: s.AuthURL, App: s.AppURL, MCP: s.MCPURL, Fetch: s.FetchURL, Docs: s.DocsURL, Asset: s.AssetURL,
		},
		Listen: s.listen(), FirstPort: s.Port, AllowedOrigins: s.AllowedOrigins,
		NoIntrospection: !s.Introspection, TrustedProxies: s.TrustedProxies,
		DynamicRegistration: s.DynamicRegistration, ClientDocumentNetworks: s.ClientDocumentNetworks,
		MailServerNetworks: s.MailServerNetworks, WebhookNetworks: s.WebhookNetworks, BucketNetworks: s.BucketNetworks, OTLPEndpoint: s.OTLPEndpoint, ActivitiesPerMinute: s.ActivitiesPerMinute,
		InboxDomain: s.InboxDomain, SystemSMTP: s.SystemSMTP, SystemFrom: s.SystemFrom,
		GitHub:    GitHub{URL: s.GitHubURL, App: s.GitHubApp, Key: s.GitHubKey, ClientSecret: s.GitHubClientSecret, WebhookSecret: s.GitHubWebhookSecret},
		RspamdURL: s.RspamdURL, Clamd: s.Clamd, GitFolder: s.GitFolder, GitNetworks: s.GitNetworks,
		DNSServers: s.DNSServers, MailHost: s.MailHost, ReceiveSESRegions: s.ReceiveSESRegions, SMTPName: s.SMTPName, SMTPCert: s.SMTPCert, SMTPKey: s.SMTPKey,
	}
}

// listen returns the listen addresses. A service without a configured address gets its port
// from --port, or its default port.
func (s Settings) listen() Listen {
	l := DefaultListen()
	if s.Port > 0 {
		l = PortRow(s.Port)
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
	if l.Asset = s.AssetAddr; l.Asset == "" && s.AssetURL != "" {
		l.Asset = l.Fetch
	}
	return l
}
