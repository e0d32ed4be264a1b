package simulated

import (
	"context"
	"embed"
	"net/url"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sentmail"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Path is the path of the page that lists the mail of the simulated account. The page of
// one mail is below it, see [MailPath].
const Path = frame.Path + "/account/mails"

// MailPath returns the path of the page of one mail. messageID is the id that the account
// returned for it.
func MailPath(messageID string) string { return Path + "/" + url.PathEscape(messageID) }

// Account is the simulated sending account of all organizations. Its methods fail with a
// *sending.Failure.
type Account interface {
	// Mails returns a page of the kept messages, newest first, and the cursor of the next
	// page, or "".
	Mails(ctx context.Context, orgID string, q sentmail.Query) ([]sentmail.Summary, string, error)
	// Mail returns a kept message. It fails with sending.NotFound for an unknown id.
	Mail(ctx context.Context, orgID, messageID string) (sentmail.Mail, error)
}

// Connections reads how organizations send.
type Connections interface {
	// Connection fails with core.CodeNotFound if no connection is stored. The organization
	// then sends with the simulated account.
	Connection(ctx context.Context, orgID string) (sending.Connection, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Account     Account
	Connections Connections
	// UnsubscribeURL is the beginning of the addresses with which recipients unsubscribe.
	// Other addresses in the headers of a mail are shown as text, not as links.
	UnsubscribeURL string
}

// Simulated has the pages about the mail of the simulated account; see dashboard.Room.
type Simulated struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Simulated, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Simulated{cfg, pages}, nil
}

// Routes returns the routes of the pages.
func (s *Simulated) Routes() []frame.Route {
	content := []members.Permission{members.MaySearchRecipients}
	return []frame.Route{
		{Path: "/account/mails", Needs: members.MayViewAnalytics, AlsoNeeds: content, Get: s.ofSimulated(s.showMails)},
		{Path: "/account/mails/{id}", Needs: members.MayViewAnalytics, AlsoNeeds: content, Get: s.ofSimulated(s.showMail)},
		{Path: "/account/mails/{id}/html", Needs: members.MaySearchRecipients, Get: s.ofSimulated(s.showHTML)},
	}
}
