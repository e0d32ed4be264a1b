// Package inbox is `mailhelm inbox`: it creates temporary inboxes and waits for their mail, for
// test scripts. It calls the public API with an API key.
package inbox

import (
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
)

// Command is `mailhelm inbox`.
type Command struct {
	New    New    `cmd:"" help:"Create an inbox, and print its address and its pull link."`
	Wait   Wait   `cmd:"" help:"Wait for mail in an inbox, and print it."`
	List   List   `cmd:"" help:"Print the inboxes that this API key created."`
	Delete Delete `cmd:"" help:"End an inbox, and delete its messages."`
}

// Help returns the text that --help shows below the summary.
func (Command) Help() string {
	return `A temporary inbox is an email address that receives mail for a minute up to an hour. A test creates one, signs up with its address, and waits for the mail.

The commands print JSON as the API returns it. They need an API key with the scopes api.inboxes.view and api.inboxes.manage in the variable MAILHELM_API_KEY, and the address of the API in MAILHELM_BASE_URL.

` + exitText + `

Example of a test:

    eval "$(mailhelm inbox new --label sign-up --print shell)"
    ...sign up with "$INBOX_ADDRESS"...
    CODE=$(mailhelm inbox wait "$INBOX_ID" --print code)
    mailhelm inbox delete "$INBOX_ID"`
}

// exitText explains the exit status in the help.
const exitText = `Exit status: 0 success; 1 the server refused the call, the inbox has ended, or the API does not answer; 2 the command line is wrong; 3 no mail came in time. Messages about failures are on standard error.`

// New is `mailhelm inbox new`.
type New struct {
	client
	TTL           int      `name:"ttl" help:"Life in seconds, from 60 to 3600. Default: 600." default:"600" placeholder:"SECONDS" once:""`
	Label         string   `help:"Your name for the inbox." placeholder:"TEXT" once:""`
	Shared        bool     `help:"Let the whole organization see the inbox, and not only this API key." once:""`
	AllowedSender []string `name:"allowed-sender" field:"allowed_senders" help:"Address, or domain as @example.com, that may send; may be repeated. Default: all senders." placeholder:"ADDRESS" once:""`
	AccountRef    string   `name:"account-ref" help:"Your id of the customer for whom the inbox is; required in platform mode." placeholder:"ID" once:""`
	Print         string   `help:"What to print: json (default), or shell (assignments of INBOX_ID, INBOX_ADDRESS and INBOX_PULL_URL for eval)." enum:"json,shell" default:"json" placeholder:"FORM" once:""`
}

// Help returns the text that --help shows below the summary.
func (New) Help() string {
	return `Prints "id" for the other commands, "address" for the application under test, "expires_at", and "pull_url", a link that reads the mail without a key and is shown only here.

Without flags the inbox lives ten minutes and takes mail of all senders. The server limits new inboxes: if it refuses one, the message says which limit was reached and, as Retry-After, how long to wait.

Examples:

    mailhelm inbox new
    eval "$(mailhelm inbox new --print shell)" && echo "$INBOX_ADDRESS"
    mailhelm inbox new --ttl 900 --label "nightly sign-up" --shared
    mailhelm inbox new --allowed-sender @example.com | jq -r .address`
}

// Run creates an inbox and prints it.
func (c *New) Run(p *cli.Program) error {
	arguments := map[string]any{"ttl": c.TTL}
	if c.Label != "" {
		arguments["label"] = c.Label
	}
	if c.Shared {
		arguments["visibility"] = "org"
	}
	if len(c.AllowedSender) > 0 {
		arguments["allowed_senders"] = c.AllowedSender
	}
	if c.AccountRef != "" {
		arguments["account_ref"] = c.AccountRef
	}
	answer, err := c.call(p, http.MethodPost, "/v1/inboxes", arguments)
	if err != nil {
		return err
	}
	if c.Print == printShell {
		return printAssignments(p, answer)
	}
	return c.print(p, answer)
}

// List is `mailhelm inbox list`.
type List struct {
	client
	Status     string `help:"Only inboxes in this state: active, expired or deleted. Default: all of the last 30 days." enum:",active,expired,deleted" default:"" placeholder:"STATE" once:""`
	Shared     bool   `help:"Print also the inboxes that others share with the organization." once:""`
	AccountRef string `name:"account-ref" help:"Only inboxes of this customer, in platform mode." placeholder:"ID" once:""`
}

// Help returns the text that --help shows below the summary.
func (List) Help() string {
	return `Prints an object whose member "data" has up to 200 inboxes, newest first, with the numbers of their messages. Ended inboxes stay in the list for 30 days, without their messages.

Examples:

    mailhelm inbox list --status active
    mailhelm inbox list --shared | jq -r '.data[] | .address + " " + .status'`
}

// Run prints the inboxes.
func (c *List) Run(p *cli.Program) error {
	query := url.Values{"limit": {"200"}}
	if c.Status != "" {
		query.Set("status", c.Status)
	}
	if c.Shared {
		query.Set("scope", "org")
	}
	if c.AccountRef != "" {
		query.Set("account_ref", c.AccountRef)
	}
	answer, err := c.call(p, http.MethodGet, "/v1/inboxes?"+query.Encode(), nil)
	if err != nil {
		return err
	}
	return c.print(p, answer)
}

// Delete is `mailhelm inbox delete`.
type Delete struct {
	client
	ID string `arg:"" help:"Id of the inbox."`
}

// Help returns the text that --help shows below the summary.
func (Delete) Help() string {
	return `The address stops receiving at once, and the messages are deleted within a minute. An inbox that is not deleted ends by itself. Deleting one makes room for another, because the number of live inboxes is limited.

Example:

    mailhelm inbox delete 0197f6c2-7a3e-7b51-9d40-2f61c0d4b301`
}

// Run deletes an inbox.
func (c *Delete) Run(p *cli.Program) error {
	if _, err := c.call(p, http.MethodDelete, "/v1/inboxes/"+url.PathEscape(c.ID), nil); err != nil {
		return err
	}
	return p.PrintJSON(map[string]bool{"deleted": true})
}
