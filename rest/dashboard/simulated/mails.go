package simulated

import (
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mask"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sentmail"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstatus"
)

// broadcastsPath is the path of the page of broadcasts, if the dashboard has it.
const broadcastsPath = frame.Path + "/broadcasts"

// ofSimulated returns a handler that calls next for organizations that send with the
// simulated account, and refuses others.
func (s *Simulated) ofSimulated(next frame.Handler) frame.Handler {
	return func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
		c, err := s.Connections.Connection(r.Context(), v.Org.ID)
		switch {
		case err != nil && !core.IsNotFound(err):
			s.Fail(w, r, v, fmt.Errorf("connection: %w", err))
		case err == nil && c.Provider != sending.Simulated:
			s.Refuse(w, r, v, http.StatusNotFound, "No simulated account",
				"This page shows the mail of the simulated sending account. This organization sends with another account, which delivers its mail.")
		default:
			next(w, r, v)
		}
	}
}

// row is the data of one mail in the list.
type row struct {
	Path, Subject, Recipient, From string
	Test                           bool
	Sent                           frame.When
	Status                         mailstatus.Status
}

// listPage is the data of the list. Masked is true if the visitor may not search
// recipients.
type listPage struct {
	All, Search string
	Masked      bool
	Rows        []row
	Pager       frame.Pager
	Empty       frame.Empty
}

// showMails lists the kept mails, newest first. A visitor who may not search recipients
// cannot search, because the results would reveal addresses.
func (s *Simulated) showMails(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	data := listPage{All: Path, Masked: !v.Member.Has(members.MaySearchRecipients)}
	query := r.URL.Query()
	if !data.Masked {
		data.Search = query.Get("q")
	}
	found, next, err := s.Account.Mails(r.Context(), v.Org.ID, sentmail.Query{Search: data.Search, Cursor: query.Get(frame.ParamCursor), Limit: frame.PageSize})
	if err != nil && !sending.IsAbsent(err) {
		s.Fail(w, r, v, sending.Unavailable(err))
		return
	}
	for _, m := range found {
		data.Rows = append(data.Rows, s.rowOf(m, data.Masked))
	}
	asked := url.Values{"q": {data.Search}}
	for _, name := range []string{frame.ParamCursor, frame.ParamFrom} {
		asked.Set(name, query.Get(name))
	}
	data.Pager = frame.PagerOf(Path, asked, len(data.Rows), next, -1)
	data.Empty = s.emptyList(v, data.Search)
	s.Show(w, r, v, http.StatusOK, frame.Screen{Page: "mails", Title: "Sent mail", Data: data, Head: frame.Head{
		Lead: "The simulated account delivers no mail. Its newest messages are kept here, with their content.",
	}})
}

// emptyList returns what the list without mails says.
func (s *Simulated) emptyList(v people.Visitor, search string) frame.Empty {
	if search != "" {
		return frame.Empty{Text: "No recipient and no subject has this text."}
	}
	empty := frame.Empty{Text: "What broadcasts and tests send appears here."}
	if s.MayOpen(v, broadcastsPath) {
		empty.Action = &frame.Action{Path: broadcastsPath, Name: "Open broadcasts"}
	}
	return empty
}

func (s *Simulated) rowOf(m sentmail.Summary, masked bool) row {
	recipients, subject := shownRecipients(m, masked)
	shown := row{
		Path: MailPath(m.ID), Subject: subject, From: frame.PlainName(m.From), Test: m.Test, Sent: s.When(m.SentAt), Status: statusOf(m.Outcome),
	}
	if len(recipients) > 0 {
		shown.Recipient = recipients[0]
	}
	if more := len(recipients) - 1; more > 0 {
		shown.Recipient += " and " + frame.Quantity(int64(more), "more", "more")
	}
	return shown
}

// shownRecipients returns the recipients of a mail and its subject as the page shows them.
// If masked is true, the recipients have no names, and their addresses are masked in both.
func shownRecipients(m sentmail.Summary, masked bool) (recipients []string, subject string) {
	if !masked {
		for _, recipient := range m.Recipients {
			recipients = append(recipients, frame.PlainName(recipient))
		}
		return recipients, frame.PlainName(m.Subject)
	}
	var addresses []string
	for _, recipient := range m.Recipients {
		parsed, err := mail.ParseAddress(recipient)
		if err != nil {
			parsed = &mail.Address{}
		}
		addresses = append(addresses, parsed.Address)
		recipients = append(recipients, frame.PlainName(core.MaskAddress(parsed.Address)))
	}
	// A call without scopes hides addresses and names.
	return recipients, frame.PlainName(mask.For(&core.Call{}, addresses...).Text(m.Subject))
}

// eventOf has the type of the event that reports an outcome.
var eventOf = map[sentmail.Outcome]string{
	sentmail.Delivered: "Delivery", sentmail.Complained: "Complaint", sentmail.Bounced: "Bounce", sentmail.RenderingFailed: "RenderingFailure",
	sentmail.Rejected: "Reject",
}

func statusOf(o sentmail.Outcome) mailstatus.Status { return mailstatus.Of(eventOf[o]) }

// failMail writes the page for a mail that cannot be read.
func (s *Simulated) failMail(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	if _, ok := errors.AsType[*sending.Failure](err); ok && sending.IsAbsent(err) {
		s.Refuse(w, r, v, http.StatusNotFound, "Mail not found", "The simulated account keeps only its newest messages. Older ones are deleted.")
		return
	}
	s.Fail(w, r, v, sending.Unavailable(err))
}
