package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demodata"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/mailhistory"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/memory"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
)

// Command is `mailhelm demo`.
type Command struct {
	Data     string `help:"Folder for everything the demo keeps." default:"./mailhelm-data" placeholder:"DIR"`
	Port     int    `help:"First of six consecutive ports for API, app, agents, fetch, SMTP and admin, instead of 8080 to 8083, 2525 and 9090." placeholder:"N"`
	JSON     bool   `help:"Print addresses and credentials as one JSON object once every address answers."`
	LogLevel string `help:"debug, info, warn or error." enum:"debug,info,warn,error" default:"warn"`
}

// Help returns the text that --help shows below the summary.
func (Command) Help() string {
	return `Starts the whole service on the loopback with SQLite and a simulated sending account, which sends nothing. It creates an invented organization with 500 contacts, 90 days of mail and DMARC reports, and received mail, and prints credentials and commands to paste. A second start with the same folder keeps all data; remove the folder to start over.

Examples:

    mailhelm demo
    mailhelm demo --data /tmp/demo --port 18080
    mailhelm demo --json`
}

// Run serves the demo until the process receives a signal; the exit status is then 0. The
// first start takes a few seconds longer, because it creates the data.
func (c *Command) Run(p *cli.Program) error {
	log, err := p.Logger(c.LogLevel)
	if err != nil {
		return err
	}
	cfg := config.Config{DataDir: c.Data, Role: config.All, Listen: config.DefaultListen(), DynamicRegistration: true, Recipients: demodata.Recipients, Letters: &mailbox{out: p.Stderr}, Log: log, Build: config.Build(cli.Build())}
	if c.Port > 0 {
		cfg.Listen = config.PortRow(c.Port)
	}
	cfg.Listen.Asset = cfg.Listen.Fetch // the Host header selects one
	if cfg.GitFolder, err = filepath.Abs(filepath.Join(c.Data, "repositories")); err != nil {
		return err
	}
	memory.Set(cfg)
	var ahead *demodata.Ahead
	if demodata.IsNew(c.Data) {
		ahead = demodata.ParseAhead(core.SystemClock())
	}
	in, err := openMailIn(p.Stderr, &cfg)
	if err != nil {
		return err
	}
	defer in.close()
	var credentials demodata.Credentials
	// Jobs run afterwards. They would wait for the only writer of SQLite, some of them for too long.
	h, err := serve.Start(p.Ctx, cfg, func(ctx context.Context, h *serve.Host) error {
		var err error
		credentials, err = c.create(ctx, p, h, ahead)
		return err
	})
	if err != nil {
		return explainStart(err)
	}
	if err := c.show(p, h, in, credentials, cfg.GitFolder); err != nil {
		return h.Abandon(err)
	}
	// Creating the demo's data needed much memory. ReleaseMemory returns unused memory to the
	// operating system, so call it after the data is created.
	h.ReleaseMemory(p.Ctx)
	return h.RunUntilSignal(p.Ctx)
}

// explainStart returns the error of a failed start. If a port is taken, the text names the
// only flag of the demo that changes ports.
func explainStart(err error) error {
	if taken, ok := errors.AsType[*config.AddressInUse](err); ok {
		return fmt.Errorf("%s is in use: stop the program that listens there, or choose six other consecutive ports with --port, such as --port 18080", taken.Port.Addr)
	}
	return err
}

// create creates the demo's data where it is missing, and returns the credentials.
func (c *Command) create(ctx context.Context, p *cli.Program, h *serve.Host, ahead *demodata.Ahead) (demodata.Credentials, error) {
	credentials, err := demodata.Seeder{DB: h.DB(), Account: h.Account(), Sync: h.Sync(), Clock: h.Clock(), Scopes: builtScopes(h), Activities: true}.Ensure(ctx, c.Data)
	if err != nil {
		return credentials, err
	}
	if err := makePast(ctx, p, h, ahead, credentials.OrgID); err != nil {
		return credentials, err
	}
	if err := addReports(ctx, h, credentials); err != nil {
		return credentials, fmt.Errorf("DMARC reports of the demo: %w", err)
	}
	return credentials, nil
}

// show creates the folder for repositories if it is missing, checks that the server answers at
// each of its addresses, adds received mail, and prints the credentials. If a step fails, it prints
// nothing on standard output, so scripts can wait for the output.
func (c *Command) show(p *cli.Program, h *serve.Host, in mailIn, credentials demodata.Credentials, repositories string) error {
	if err := os.MkdirAll(repositories, 0o700); err != nil {
		return err
	}
	if err := h.Probe(p.Ctx); err != nil {
		return err
	}
	if err := in.fill(p.Ctx, h, credentials); err != nil {
		return fmt.Errorf("received mail of the demo: %w", err)
	}
	if c.JSON {
		return p.PrintJSON(newPrinted(h.Addresses(), in.receiver.URL, credentials, repositories))
	}
	return printDemo(p, h.Addresses(), in.receiver.URL, credentials, c.Data, repositories)
}

// makePast creates 90 days of email events at the first start, which takes a few seconds
// and shows a progress bar on standard error. At later starts the events exist, and
// makePast returns at once.
func makePast(ctx context.Context, p *cli.Program, h *serve.Host, ahead *demodata.Ahead, orgID string) error {
	line := cli.NewProgress(p.Stderr, 1, h.Clock())
	defer line.End()
	return demodata.Past{
		DB: h.DB(), Account: h.Account(), Connections: h.Connections(), Forget: h.Forget, Domains: h.Domains(), Webhooks: h.Webhooks(), Clock: h.Clock(), Ahead: ahead,
		Progress: func(done, all int) {
			line.Resize(int64(all))
			line.Show(int64(done), fmt.Sprintf("%d of %d events of the last %d days", done, all, mailhistory.Days))
		},
	}.Ensure(ctx, orgID)
}

// demoOutput is the object that `mailhelm demo --json` prints. Scripts rely on its members.
type demoOutput struct {
	BaseURL  string `json:"base_url"`
	AuthURL  string `json:"auth_url"`
	AppURL   string `json:"app_url"`
	MCPURL   string `json:"mcp_url"`
	FetchURL string `json:"fetch_url"`
	AssetURL string `json:"asset_url"`
	SMTPAddr string `json:"smtp_addr"`
	AdminURL string `json:"admin_url"`
	// WebhookURL is the address of the demo's own receiver of webhooks.
	WebhookURL string `json:"webhook_url"`
	// GitFolder is the folder whose Git repositories can be connected.
	GitFolder string `json:"git_folder"`
	demodata.Credentials
}

// newPrinted returns the object that --json prints, from the addresses of the server and of its
// receiver of webhooks, the credentials, including the secrets, and the folder for repositories.
func newPrinted(a serve.Addresses, webhookURL string, c demodata.Credentials, repositories string) demoOutput {
	return demoOutput{
		BaseURL: a.API, AuthURL: a.Auth, AppURL: a.App, MCPURL: a.MCP, FetchURL: a.Fetch, AssetURL: a.Asset,
		SMTPAddr: a.SMTP, AdminURL: a.Admin, WebhookURL: webhookURL, GitFolder: repositories, Credentials: c,
	}
}

// builtScopes returns the scopes that an operation of the server needs. The demo's
// credentials have no others, because they would permit nothing.
func builtScopes(h *serve.Host) core.Scopes {
	return catalogue.NeededScopes(catalogue.Operations(h.Domains()))
}
