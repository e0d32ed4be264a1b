package demo

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demodata"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
)

// printDemo prints the demo's addresses, its credentials and commands to try, for a person.
// It prints secrets in clear text.
func printDemo(p *cli.Program, a serve.Addresses, webhookURL string, c demodata.Credentials, dir, repositories string) error {
	fmt.Fprintf(p.Stdout, "\nMailhelm demo: Fernhill Coffee, 500 contacts and 90 days of mail. Nothing is sent. Everything is kept in %s.\n\n", dir)
	for _, table := range [][][]string{addressRows(a, webhookURL, repositories), credentialRows(c)} {
		if err := p.PrintTable("  ", table); err != nil {
			return err
		}
		fmt.Fprintln(p.Stdout)
	}
	_, err := fmt.Fprintf(p.Stdout, demoText, a.App+"/dashboard", clientConfiguration(a), a.Docs, tokenCommand(a, c), listCommand(a), callCommand(a))
	return err
}

// addressRows returns the rows of the printed table of addresses: service and address, and last the folder for
// Git repositories.
func addressRows(a serve.Addresses, webhookURL, repositories string) [][]string {
	return [][]string{
		{"Dashboard", a.App + "/dashboard"},
		{"API", a.API + "/v1"},
		{"Agents", a.MCP + "/mcp"},
		{"Auth, app", a.Auth},
		{"Fetch", a.Fetch},
		{"Images", a.Asset},
		{"SMTP", a.SMTP},
		{"Webhooks", webhookURL},
		{"Status", a.Admin},
		{"Docs", a.Docs},
		{"Git", repositories},
	}
}

// credentialRows returns the rows of the printed table of credentials: group, kind and
// value.
func credentialRows(c demodata.Credentials) [][]string {
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

// demoText is a format with six texts to insert: the address of the dashboard, the
// configuration of an assistant, the address of the documentation, and three shell commands,
// which get a token, list the tools and call one.
const demoText = `Sign in at %s as the user above.

Connect an assistant: the address is enough. It opens the browser, where you sign in and choose its permissions.

%s

Steps for each assistant: %s/guides/connect

Or get an access token for a program, good for 15 minutes:

%s

List the tools:

%s

Call a tool:

%s

Mail that this server would send to people, such as codes that verify senders and links that reset passwords, is shown here.
So is the mail of receiving domains whose webhook has the address above, such as orders.example.com.
Ctrl-C stops the demo.
`

// tokenVariable is the shell variable that holds the access token in the printed
// commands.
const tokenVariable = "MAILHELM_TOKEN"

// The printed commands need only a POSIX shell, curl and sed.

// tokenCommand returns the shell command that stores an access token for the MCP endpoint
// in the variable tokenVariable. The command contains the secret of the live OAuth client.
func tokenCommand(a serve.Addresses, c demodata.Credentials) string {
	return fmt.Sprintf(`export %s=$(curl -sS %s/oauth/token -u '%s:%s' \
  -d grant_type=client_credentials -d resource=%s | sed 's/.*"access_token": *"\([^"]*\)".*/\1/')`,
		tokenVariable, a.Auth, c.ClientID, c.ClientSecret, a.MCP)
}

// listCommand returns the shell command that lists the MCP tools.
func listCommand(a serve.Addresses) string {
	return mcpCommand(a, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
}

// callCommand returns the shell command that looks up the demo's first contact with an MCP
// tool.
func callCommand(a serve.Addresses) string {
	return mcpCommand(a, fmt.Sprintf(
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"%s"}}}`, demodata.FirstEmail))
}

// mcpCommand returns the shell command that posts body to the MCP endpoint with the token
// in tokenVariable. body must not contain a single quote.
func mcpCommand(a serve.Addresses, body string) string {
	return strings.Join([]string{
		"curl -sS " + a.MCP + "/mcp", `-H "Authorization: Bearer $` + tokenVariable + `"`,
		"\\\n  -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'",
		"\\\n  -d '" + body + "'",
	}, " ")
}

// clientConfiguration returns the JSON configuration of an MCP client that signs in with
// OAuth.
func clientConfiguration(a serve.Addresses) string {
	return fmt.Sprintf(`{
  "mcpServers": {
    "mailhelm": {
      "type": "http",
      "url": "%s/mcp"
    }
  }
}`, a.MCP)
}
