package simulated

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sentmail"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstatus"
)

// messagesPath is the path of the page that searches messages. The page of one message is
// below it.
const messagesPath = frame.Path + "/messages"

// mailPage is the data of the page of one mail.
type mailPage struct {
	ID, From, Channel string
	Recipients        []string
	Test              bool
	Sent              frame.When
	Status            mailstatus.Status
	// Masked is true if the visitor may not search recipients. The fields below are then
	// empty.
	Masked bool
	// Cut is true if the account has kept only the beginning of the content.
	Cut bool
	// Preview is the address of the HTML, "" without HTML. Widths are the links to the
	// preview in other widths, and Phone is true for the narrow one.
	Preview       string
	Widths        []width
	Phone         bool
	Text, HTML    string
	Headers, Tags []field
	// Unsubscribe is the address that the mail gives for unsubscribing, if it belongs to
	// this installation; else "".
	Unsubscribe string
}

// field is a header field or a tag of a mail.
type field struct{ Name, Value string }

// width is a link to a page with the preview in a width.
type width struct{ Name, Path, Current string }

// showMail shows one mail.
func (s *Simulated) showMail(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	m, err := s.Account.Mail(r.Context(), v.Org.ID, r.PathValue("id"))
	if err != nil {
		s.failMail(w, r, v, err)
		return
	}
	data := mailPage{
		ID: frame.PlainName(m.ID), From: frame.PlainName(m.From), Channel: frame.PlainName(m.ConfigurationSet), Test: m.Test,
		Sent: s.When(m.SentAt), Status: statusOf(m.Outcome), Masked: !v.Member.Has(members.MaySearchRecipients),
	}
	var subject string
	data.Recipients, subject = shownRecipients(m.Summary, data.Masked)
	if subject == "" {
		subject = "Mail without a subject"
	}
	if !data.Masked {
		s.fillContent(&data, m, r.URL.Query().Get("width") == "phone")
	}
	if data.Preview != "" {
		frame.AllowMailFrames(w)
	}
	head := frame.Head{Title: subject, Parents: []frame.Link{{Path: Path, Name: "Sent mail"}}}
	if s.MayOpen(v, messagesPath) {
		head.Actions = append(head.Actions, frame.Action{Path: messagesPath + "/" + url.PathEscape(m.ID), Name: "View events"})
	}
	s.Show(w, r, v, http.StatusOK, frame.Screen{Page: "mail", Title: subject, Head: head, Data: data})
}

// fillContent adds the content of a mail to its page.
func (s *Simulated) fillContent(data *mailPage, m sentmail.Mail, phone bool) {
	data.Text, data.HTML, data.Cut = frame.PlainName(m.Text), frame.PlainName(m.HTML), m.Cut
	if m.HTML != "" {
		address := MailPath(m.ID)
		data.Preview, data.Phone = address+"/html", phone
		data.Widths = []width{{Name: "Desktop", Path: address}, {Name: "Phone", Path: address + "?width=phone"}}
		if phone {
			data.Widths[1].Current = "page"
		} else {
			data.Widths[0].Current = "page"
		}
	}
	for _, h := range m.Headers {
		data.Headers = append(data.Headers, field{frame.PlainName(h.Name), frame.PlainName(h.Value)})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Tags)) {
		data.Tags = append(data.Tags, field{frame.PlainName(name), frame.PlainName(m.Tags[name])})
	}
	data.Unsubscribe = s.unsubscribeLink(m.Headers)
}

// unsubscribeLink returns the address in the header field List-Unsubscribe (RFC 2369
// section 3.2) that belongs to this installation, or "". Customers choose header fields, so
// another address may lead anywhere.
func (s *Simulated) unsubscribeLink(headers []sentmail.Header) string {
	for _, h := range headers {
		if !strings.EqualFold(h.Name, "List-Unsubscribe") {
			continue
		}
		for part := range strings.SplitSeq(h.Value, ",") {
			address, ok := strings.CutPrefix(strings.TrimSpace(part), "<")
			address, closed := strings.CutSuffix(address, ">")
			if ok && closed && strings.HasPrefix(address, s.UnsubscribeURL) {
				return address
			}
		}
	}
	return ""
}
