package messages

import (
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/mailstatus"
)

// diagnosis is the result of the operation messages_diagnose.
type diagnosis struct {
	Message  record `json:"message"`
	Outcome  string `json:"outcome"`
	Text     string `json:"diagnosis"`
	Evidence []struct {
		Text   string   `json:"claim"`
		Events []string `json:"event_ids"`
	} `json:"evidence"`
	NextSteps []nextStep      `json:"next_steps"`
	Events    []diagnosedPart `json:"events"`
}

// diagnosedPart is an event in a diagnosis, which names its recipient.
type diagnosedPart struct {
	ID         string    `json:"id"`
	Type       string    `json:"type"`
	OccurredAt time.Time `json:"occurred_at"`
	Recipient  string    `json:"recipient"`
}

// messagePage is the data of the page of one message.
type messagePage struct {
	ID, Sender string
	Recipients []recipient
	// MoreRecipients is the number of recipients that the page leaves out, in words, or "".
	MoreRecipients string
	Subject        string
	Status         mailstatus.Status
	Sent, Last     frame.When
	// Template and Channel have links to other messages of the same template and channel,
	// and to the channels page.
	Template, Channel           string
	SameTemplate, SameChannel   string
	Outcome                     outcome
	Diagnosis                   string
	Evidence                    []evidence
	Steps                       []step
	Timeline                    timeline
	Related                     []row
	AllRelated                  string
	Masked                      bool
	RelatedProblem, ChannelPath string
}

// evidence is a claim of the diagnosis with links to the events that prove it.
type evidence struct {
	Text   string
	Events []eventLink
}

// eventLink leads to an event of the timeline.
type eventLink struct{ Number, Anchor string }

// recipient is an address to which the message was sent, with links to its records. A link
// is "" if the visitor may not open its page or there is no record.
type recipient struct {
	Address                             string
	Contact, Suppression, Undeliverable string
	// Listed says whether the address is on the list of undeliverable addresses, in words.
	Listed string
}

// The numbers of recipients and of related messages that the page shows.
const (
	shownRecipients = 10
	shownRelated    = 10
)

// showMessage shows one message: its diagnosis, facts, timeline, and other messages to the
// same recipient.
func (m *Messages) showMessage(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("id")
	var d diagnosis
	if err := m.Read(r, v, "messages_diagnose", map[string]string{"message_id": id}, &d); err != nil {
		m.failMessage(w, r, v, err)
		return
	}
	var events struct {
		Data []event `json:"data"`
	}
	if err := m.Read(r, v, "messages_events", map[string]string{"id": id}, &events); err != nil {
		m.failMessage(w, r, v, err)
		return
	}
	page := m.messagePage(r, v, d)
	page.Timeline = m.timelineOf(events.Data, d.Events)
	page.Evidence = evidenceOf(d, page.Timeline)
	m.fillRelated(r, v, d.Message, &page)
	title := page.Subject
	if title == "" {
		title = "Message without a subject"
	}
	m.Show(w, r, v, http.StatusOK, frame.Screen{Page: "message", Title: title, Head: frame.Head{Title: title}, Data: page})
}

// failMessage writes the page for a message that cannot be read. An unknown message gets a
// page that says how long messages are kept.
func (m *Messages) failMessage(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	switch core.AsError(err).Code {
	case core.CodeNotFound, core.CodeValidationFailed:
		m.Refuse(w, r, v, http.StatusNotFound, "Message not found", core.AsError(err).NextStep())
	default:
		m.Fail(w, r, v, err)
	}
}

// messagePage returns the data of a message and its diagnosis, without the timeline.
func (m *Messages) messagePage(r *http.Request, v people.Visitor, d diagnosis) messagePage {
	page := messagePage{
		ID: frame.PlainName(d.Message.ID), Sender: frame.PlainName(d.Message.From), Subject: frame.PlainName(d.Message.Subject),
		Status: mailstatus.Of(d.Message.Status), Sent: m.WhenText(d.Message.SentAt), Last: m.WhenText(d.Message.LastEventAt),
		Template: frame.PlainName(d.Message.Template), Channel: frame.PlainName(d.Message.Channel),
		Outcome: outcomes[d.Outcome], Diagnosis: frame.PlainName(d.Text), Steps: m.stepsOf(v, d),
		Masked: !v.Member.Has(members.MaySearchRecipients),
	}
	if page.Template != "" {
		page.SameTemplate = frame.Address(Path, filter{Template: d.Message.Template}.parameters())
	}
	if page.Channel != "" && v.Member.Has(members.MayViewSending) {
		page.SameChannel = frame.Address(Path, filter{Channel: d.Message.Channel}.parameters())
		if path := frame.Path + "/channels"; m.MayOpen(v, path) {
			page.ChannelPath = path
		}
	}
	addresses := addressesOf(d)
	if more := len(addresses) - shownRecipients; more > 0 {
		page.MoreRecipients = frame.Quantity(int64(more), "more recipient", "more recipients")
	}
	for _, address := range addresses[:min(len(addresses), shownRecipients)] {
		page.Recipients = append(page.Recipients, m.recipientOf(r, v, address))
	}
	return page
}

// addressesOf returns the recipients that a diagnosis names, each once, the first recipient
// of the message first.
func addressesOf(d diagnosis) []string {
	var addresses []string
	seen := map[string]bool{"": true}
	for _, address := range append([]string{d.Message.To}, recipientsOf(d.Events)...) {
		if key := core.EmailKey(address); !seen[key] {
			seen[key] = true
			addresses = append(addresses, address)
		}
	}
	return addresses
}

func recipientsOf(events []diagnosedPart) []string {
	addresses := make([]string, len(events))
	for i, e := range events {
		addresses[i] = e.Recipient
	}
	return addresses
}

// recipientOf returns a recipient with the links that the visitor may follow. A masked
// address has no links, because its records cannot be found.
func (m *Messages) recipientOf(r *http.Request, v people.Visitor, address string) recipient {
	shown := recipient{Address: frame.PlainName(address)}
	if !v.Member.Has(members.MaySearchRecipients) || !core.IsEmail(address) {
		return shown
	}
	if path := frame.Path + "/contacts"; m.MayOpen(v, path) {
		shown.Contact = frame.Address(path, frame.Parameters{"q": address})
	}
	if path := frame.Path + "/suppressions"; m.MayOpen(v, path) {
		shown.Suppression = frame.Address(path, frame.Parameters{"email": address})
	}
	if path := frame.Path + "/undeliverable"; m.MayOpen(v, path) {
		entry, err := m.Undeliverable.Entry(r.Context(), v.Org.ID, suppression.Entry{Key: suppression.AddressKey(address)}.ID())
		if err == nil {
			shown.Undeliverable, shown.Listed = path+"/"+entry.ID(), "Undeliverable: "+string(entry.Status)
		}
	}
	return shown
}

// evidenceOf returns the claims of a diagnosis with links to the timeline.
func evidenceOf(d diagnosis, t timeline) []evidence {
	var all []evidence
	for _, claim := range d.Evidence {
		shown := evidence{Text: frame.PlainName(claim.Text)}
		for _, id := range claim.Events {
			if number, ok := t.numbers[id]; ok {
				shown.Events = append(shown.Events, eventLink{number, "#event-" + number})
			}
		}
		all = append(all, shown)
	}
	return all
}
