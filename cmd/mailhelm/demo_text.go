package main

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/host"
)

// printDemo is what a person reads.
func (p *program) printDemo(a host.Addresses, c demo.Credentials, dir string) error {
	fmt.Fprintf(p.stdout, "\nMailhelm demo: Fernhill Coffee, 500 contacts and 90 days of mail. Nothing is sent. Everything is kept in %s.\n\n", dir)
	for _, table := range [][][]string{addressRows(a), credentialRows(c)} {
		if err := p.printTable("  ", table); err != nil {
			return err
		}
		fmt.Fprintln(p.stdout)
	}
	_, err := fmt.Fprintf(p.stdout, demoText, tokenCommand(a, c), listCommand(a), callCommand(a), clientConfiguration(a))
	return err
}

func addressRows(a host.Addresses) [][]string {
	return [][]string{
		{"Dashboard", a.App + "/dashboard"},
		{"API", a.API + "/v1"},
		{"Agents", a.MCP + "/mcp"},
		{"Auth, app", a.Auth},
		{"Fetch", a.Fetch},
		{"SMTP", a.SMTP},
		{"Admin", a.Admin + "/metrics"},
		{"Docs", a.Docs},
	}
}

func credentialRows(c demo.Credentials) [][]string {
	return [][]string{
		{"Live", "client id", c.ClientID},
		{"", "client secret", c.ClientSecret},
		{"", "API key", c.APIKey},
		{"Test", "client id", c.TestClientID},
		{"", "client secret", c.TestClientSecret},
		{"", "API key", c.TestAPIKey},
		{"User", "email", c.UserEmail},
		{"", "password", c.UserPassword},
		{"Org", "id", c.OrgID},
	}
}

const demoText = `Get an access token, good for 15 minutes:

%s

List the tools:

%s

Call one:

%s

For an MCP client's configuration:

%s

Ctrl-C stops the demo.
`

// tokenVariable is what the commands pass the token on in.
const tokenVariable = "MAILHELM_TOKEN"

// The commands need nothing but a POSIX shell, curl and sed.

func tokenCommand(a host.Addresses, c demo.Credentials) string {
	return fmt.Sprintf(`export %s=$(curl -sS %s/oauth/token -u '%s:%s' \
  -d grant_type=client_credentials -d resource=%s | sed 's/.*"access_token": *"\([^"]*\)".*/\1/')`,
		tokenVariable, a.Auth, c.ClientID, c.ClientSecret, a.MCP)
}

func listCommand(a host.Addresses) string {
	return mcpCommand(a, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
}

func callCommand(a host.Addresses) string {
	return mcpCommand(a, fmt.Sprintf(
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"%s"}}}`, demo.FirstEmail))
}

func mcpCommand(a host.Addresses, body string) string {
	return strings.Join([]string{
		"curl -sS " + a.MCP + "/mcp", `-H "Authorization: Bearer $` + tokenVariable + `"`,
		"\\\n  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'",
		"\\\n  -d '" + body + "'",
	}, " ")
}

func clientConfiguration(a host.Addresses) string {
	return fmt.Sprintf(`{
  "mcpServers": {
    "mailhelm": {
      "type": "http",
      "url": "%s/mcp",
      "headers": { "Authorization": "Bearer ${%s}" }
    }
  }
}`, a.MCP, tokenVariable)
}
