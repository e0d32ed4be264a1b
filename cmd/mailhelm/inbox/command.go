// Package inbox is `mailhelm inbox`: it creates temporary inboxes and waits for their mail, for
// test scripts. It calls the public API with an API key.
package inbox

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
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
	return `The commands print JSON. They need an API key with the scopes api.inboxes.view and api.inboxes.manage, in the variable MAILHELM_API_KEY.

Examples:

    mailhelm inbox new --ttl 900 --label sign-up
    mailhelm inbox wait 0197… --subject code --timeout 60s
    mailhelm inbox delete 0197…`
}

// New is `mailhelm inbox new`.
type New struct {
	client
	TTL           int      `name:"ttl" help:"Life in seconds, from 60 to 3600." default:"600" placeholder:"SECONDS" once:""`
	Label         string   `help:"Your name for the inbox." placeholder:"TEXT" once:""`
	Shared        bool     `help:"Let the whole organization see the inbox, and not only this API key." once:""`
	AllowedSender []string `name:"allowed-sender" field:"allowed_senders" help:"Address, or domain as @example.com, that may send; may be repeated. Default: all senders." placeholder:"ADDRESS" once:""`
	AccountRef    string   `name:"account-ref" help:"Your id of the customer for whom the inbox is; required in platform mode." placeholder:"ID" once:""`
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
	answer, err := c.call(p.Ctx, http.MethodPost, "/v1/inboxes", arguments)
	if err != nil {
		return err
	}
	return c.print(p, answer)
}

// Wait is `mailhelm inbox wait`.
type Wait struct {
	client
	ID       string        `arg:"" help:"Id of the inbox."`
	After    int           `help:"Cursor of the previous answer. Default: all messages of the inbox." placeholder:"CURSOR" once:""`
	Timeout  time.Duration `help:"How long to wait; 0 answers at once." default:"60s" placeholder:"DURATION" once:""`
	Sender   string        `field:"match_sender" help:"Only mail of this address, or of this domain written as @example.com." placeholder:"ADDRESS" once:""`
	Subject  string        `field:"match_subject" help:"Only mail whose subject contains this text." placeholder:"TEXT" once:""`
	Contains string        `field:"match_contains" help:"Only mail whose subject, text or HTML contains this text." placeholder:"TEXT" once:""`
}

// Help returns the text that --help shows below the summary.
func (Wait) Help() string {
	return `Prints the messages with their one-time codes and links. The exit status is 0 if mail came, and 1 if none came in time, if the inbox has ended, or if the server refused the call.

Examples:

    mailhelm inbox wait 0197… --subject code
    mailhelm inbox wait 0197… | jq -r '.messages[0].extracted.codes[0]'`
}

// longestWait is the longest wait of one call.
const longestWait = 25 * time.Second

// Run waits for mail and prints it. It fails if none comes.
func (c *Wait) Run(p *cli.Program) error {
	end := core.SystemClock().Add(c.Timeout)
	query := url.Values{}
	for name, value := range map[string]string{"match_sender": c.Sender, "match_subject": c.Subject, "match_contains": c.Contains} {
		if value != "" {
			query.Set(name, value)
		}
	}
	cursor := strconv.Itoa(c.After)
	for {
		wait := min(longestWait, max(0, end.Sub(core.SystemClock())))
		query.Set("after", cursor)
		query.Set("wait", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		answer, err := c.poll(p.Ctx, "/v1/inboxes/"+url.PathEscape(c.ID)+"/messages?"+query.Encode(), end)
		if err != nil {
			return err
		}
		arrived, err := readArrived(answer)
		if err != nil {
			return err
		}
		if arrived.Messages > 0 {
			return c.print(p, answer)
		}
		if !core.SystemClock().Before(end) {
			if err := c.print(p, answer); err != nil {
				return err
			}
			return cli.ErrReported
		}
		cursor = arrived.Cursor
	}
}

// List is `mailhelm inbox list`.
type List struct {
	client
	Status string `help:"Only inboxes in this state: active, expired or deleted. Default: all of the last 30 days." enum:",active,expired,deleted" default:"" placeholder:"STATE" once:""`
	Shared bool   `help:"Print also the inboxes that others share with the organization." once:""`
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
	answer, err := c.call(p.Ctx, http.MethodGet, "/v1/inboxes?"+query.Encode(), nil)
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

// Run deletes an inbox.
func (c *Delete) Run(p *cli.Program) error {
	if _, err := c.call(p.Ctx, http.MethodDelete, "/v1/inboxes/"+url.PathEscape(c.ID), nil); err != nil {
		return err
	}
	return p.PrintJSON(map[string]bool{"deleted": true})
}
