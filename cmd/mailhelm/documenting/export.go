// Package documenting has the command that writes the documentation as static files.
package documenting

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
)

// Command is `mailhelm docs`.
type Command struct {
	Export Export `cmd:"" help:"Write the documentation as static files."`
}

// Export is `mailhelm docs export`.
type Export struct {
	Dir      string `arg:"" help:"Folder for the files. It is created if it does not exist; files of the same names are replaced."`
	BaseURL  string `name:"base-url" help:"Public address of the API in the examples." default:"https://api.example.com" placeholder:"URL"`
	AuthURL  string `name:"auth-url" help:"Public address of the authorization server." default:"https://auth.example.com" placeholder:"URL"`
	AppURL   string `name:"app-url" help:"Public address of the dashboard." default:"https://app.example.com" placeholder:"URL"`
	MCPURL   string `name:"mcp-url" help:"Public address of the agent endpoint, without /mcp." default:"https://mcp.example.com" placeholder:"URL"`
	FetchURL string `name:"fetch-url" help:"Public address of the pull host for temporary inboxes." default:"https://fetch.example.com" placeholder:"URL"`
	DocsURL  string `name:"docs-url" help:"Address at which the files will be served, for llms.txt and the Markdown files." default:"https://docs.example.com" placeholder:"URL"`
}

// Help returns the text that --help shows below the summary.
func (Export) Help() string {
	return `Writes every page of the documentation as HTML and Markdown, with relative links, so that any web server can serve the folder. It needs no database and no running server. The search of the files works in the browser.

Examples:

    mailhelm docs export public
    mailhelm docs export public --base-url https://api.example.org --docs-url https://example.org/docs`
}

// Run writes the files and prints their number.
func (c *Export) Run(p *cli.Program) error {
	site, err := serve.Documentation(config.Public{
		API: c.BaseURL, Auth: c.AuthURL, App: c.AppURL, MCP: c.MCPURL, Fetch: c.FetchURL, Docs: c.DocsURL,
	}, cli.Build().Commit, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	written := 0
	err = site.Export(func(name string, body []byte) error {
		file := filepath.Join(c.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a public web site
			return err
		}
		written++
		return os.WriteFile(file, body, 0o644) //nolint:gosec // a public web site
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.Stdout, "Wrote %d files to %s.\n", written, c.Dir)
	return err
}
