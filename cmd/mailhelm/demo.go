package main

import (
	"fmt"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/host"
)

type demoCommand struct {
	Data     string `help:"Folder for everything the demo keeps." default:"./mailhelm-data" placeholder:"DIR"`
	Port     int    `help:"First of six ports in a row for API, app, agents, fetch, SMTP and admin, in place of 8080 to 8083, 2525 and 9090." placeholder:"N"`
	JSON     bool   `help:"Print addresses and credentials as one JSON object, when everything answers."`
	LogLevel string `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"warn"`
}

// Help is shown below the summary.
func (demoCommand) Help() string {
	return `Starts the whole service on the loopback, on SQLite and a simulated sending account that sends nothing, with an invented organization of 500 contacts and 90 days of mail. It prints credentials and commands to paste. A second start with the same folder finds everything as it was; removing the folder starts over.

Examples:

    mailhelm demo
    mailhelm demo --data /tmp/demo --port 18080
    mailhelm demo --json`
}

// Run serves the demo until a signal.
func (c *demoCommand) Run(p *program) error {
	log, err := p.logger(c.LogLevel)
	if err != nil {
		return err
	}
	cfg := config.Config{DataDir: c.Data, Role: config.All, Listen: config.DefaultListen(), Recipients: demo.Recipients, Log: log, Build: build()}
	if c.Port > 0 {
		cfg.Listen = config.PortRow(c.Port)
	}
	h, err := host.Start(p.ctx, cfg)
	if err != nil {
		return err
	}
	if err := c.show(p, h); err != nil {
		return stopNow(h, err)
	}
	// Filling the database and hashing a password take memory that serving does
	// not, so this too comes after them.
	tuneMemory(p.ctx, h.DB(), log)
	return runUntilSignal(p.ctx, h, log)
}

func (c *demoCommand) show(p *program, h *host.Host) error {
	credentials, err := demo.Seeder{DB: h.DB(), Account: h.Account(), Sync: h.Sync(), Clock: h.Clock()}.Ensure(p.ctx, c.Data)
	if err != nil {
		return err
	}
	if err := p.makePast(h, credentials.OrgID); err != nil {
		return err
	}
	if err := h.Probe(p.ctx); err != nil {
		return err
	}
	if c.JSON {
		return p.printJSON(newDemoJSON(h.Addresses(), credentials))
	}
	return p.printDemo(h.Addresses(), credentials, c.Data)
}

// makePast takes a few seconds at the first start, and nothing later.
func (p *program) makePast(h *host.Host, orgID string) error {
	line := progressOn(p.stderr, 1, h.Clock())
	defer line.end()
	return demo.Past{
		DB: h.DB(), Account: h.Account(), Connections: h.Connections(), Forget: h.Forget, Domains: h.Domains(), Clock: h.Clock(),
		Progress: func(done, all int) {
			line.total = int64(all)
			line.show(int64(done), fmt.Sprintf("%d of %d events of the last %d days", done, all, demo.HistoryDays))
		},
	}.Ensure(p.ctx, orgID)
}

// demoJSON is the answer of --json. Its members are a contract with scripts.
type demoJSON struct {
	BaseURL  string `json:"base_url"`
	AuthURL  string `json:"auth_url"`
	AppURL   string `json:"app_url"`
	MCPURL   string `json:"mcp_url"`
	FetchURL string `json:"fetch_url"`
	SMTPAddr string `json:"smtp_addr"`
	AdminURL string `json:"admin_url"`
	demo.Credentials
}

func newDemoJSON(a host.Addresses, c demo.Credentials) demoJSON {
	return demoJSON{
		BaseURL: a.API, AuthURL: a.Auth, AppURL: a.App, MCPURL: a.MCP, FetchURL: a.Fetch,
		SMTPAddr: a.SMTP, AdminURL: a.Admin, Credentials: c,
	}
}
