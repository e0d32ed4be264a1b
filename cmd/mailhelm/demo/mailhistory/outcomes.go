package mailhistory

import (
	"fmt"
	"strings"
	"time"
)

// send adds the events of one message: its sending and what happened to it later. It adds
// none if the message's time is after the current time. It also adds none if the address
// bounced permanently or complained earlier. old marks an address that received no mail for
// years and bounces more often.
func (h *history) send(k Letter, to string, at time.Time, old bool) {
	at = at.Truncate(time.Millisecond)
	if since, gone := h.gone[to]; at.After(h.now) || gone && at.After(since) {
		return
	}
	h.messages++
	m := pastMail{k, to, at, fmt.Sprintf("0107018f%08x-%08x-demo-000000", h.messages, h.chance.Uint32())}
	rare := ""
	if k.Template == Receipt.Template {
		rare, h.rare = h.rare, ""
	}
	if k.Template == Receipt.Template && h.happens(0.002) || rare == "Rendering Failure" {
		h.add("Rendering Failure", m, at.Add(time.Second), map[string]any{
			"errorMessage": "Attribute 'order' is not present in the rendering data.", "templateName": k.Template,
		})
		return
	}
	h.add("Send", m, at, nil)
	failing := strings.HasSuffix(to, "@"+failingDomain)
	switch {
	case h.happens(0.0006) || rare == "Reject":
		h.add("Reject", m, at.Add(time.Second), map[string]any{"reason": "Bad content"})
	case rare == "" && h.addBounce(m, failing, old):
	case h.happens(0.009) || rare == "DeliveryDelay":
		h.add("DeliveryDelay", m, at.Add(10*time.Minute), map[string]any{
			"delayType": "TransientCommunicationFailure", "delayedRecipients": recipients(to, "4.4.7", ""),
		})
	default:
		h.addDelivery(m)
	}
}

// addBounce decides at random whether the message bounces, adds the bounce event if so, and
// reports whether it did. An address that bounces permanently receives no later mail.
func (h *history) addBounce(m pastMail, failing, old bool) bool {
	probability, permanent := 0.004, 0.8
	switch {
	case old:
		probability, permanent = 0.25, 0.7
	case failing:
		probability, permanent = 0.2, 0
	}
	if !h.happens(probability) {
		return false
	}
	at := m.at.Add(2*time.Second + h.upTo(time.Minute)).Truncate(time.Millisecond)
	kind, sub, status, diagnostic := "Transient", "MailboxFull", "4.2.2", "smtp; 452 4.2.2 mailbox full"
	if h.happens(permanent) {
		kind, sub, status, diagnostic = "Permanent", "General", "5.1.1", "smtp; 550 5.1.1 user unknown"
		h.gone[m.to] = at
	}
	h.add("Bounce", m, at, map[string]any{
		"bounceType": kind, "bounceSubType": sub, "bouncedRecipients": recipients(m.to, status, diagnostic),
		"feedbackId": m.id + "-bounce", "reportingMTA": "dns; mx.example.net",
	})
	return true
}

// addDelivery adds the delivery event of a message and, at random, an open, a click and a
// complaint. The delay until the open has an exponential distribution. An address that
// complains receives no later mail.
func (h *history) addDelivery(m pastMail) {
	at := m.at.Add(time.Second + h.upTo(4*time.Second)).Truncate(time.Millisecond)
	h.add("Delivery", m, at, map[string]any{
		"recipients": []string{m.to}, "processingTimeMillis": at.Sub(m.at).Milliseconds(), "smtpResponse": "250 2.0.0 OK",
	})
	later := time.Duration(h.chance.ExpFloat64() * float64(9*time.Hour))
	opened := at.Add(time.Minute + later).Truncate(time.Millisecond)
	reader := map[string]any{"ipAddress": "192.0.2.1", "userAgent": "Mozilla/5.0"}
	if h.happens(m.kind.Opened) {
		h.add("Open", m, opened, reader)
	}
	if h.happens(m.kind.Clicked) {
		h.add("Click", m, opened.Add(30*time.Second), map[string]any{
			"ipAddress": "192.0.2.1", "userAgent": "Mozilla/5.0", "link": "https://example.com/" + m.kind.Template,
		})
	}
	if h.happens(m.kind.Complained) {
		complained := opened.Add(time.Minute)
		h.gone[m.to] = complained
		h.add("Complaint", m, complained, map[string]any{
			"complaintFeedbackType": "abuse", "feedbackId": m.id + "-complaint", "complainedRecipients": recipients(m.to, "", ""),
		})
	}
}
