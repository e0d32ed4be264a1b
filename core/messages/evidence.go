package messages

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// namedEvents is the maximum number of event ids in one [Claim]. A claim about more events
// has the ids of the latest ones.
const namedEvents = 10

// claims returns one claim for each type of event about the delivery to this recipient. The
// claims are in the order in which such events occur: first Send, then Delivery or Bounce,
// then Open and Click.
func (k *course) claims() []Claim {
	var claims []Claim
	for _, t := range []EventType{Send, Reject, RenderingFailure, DeliveryDelay, Delivery, Bounce, Open, Click, Complaint, Subscription} {
		events := k.eventsOf(t)
		if len(events) == 0 {
			continue
		}
		var ids []string
		for _, e := range events[max(0, len(events)-namedEvents):] {
			ids = append(ids, e.ID)
		}
		claims = append(claims, Claim{Text: k.describeEvents(events), Events: ids})
	}
	return claims
}

// describeEvents returns one sentence about events, which must have the same type. Times
// and details in it are those of the last event.
func (k *course) describeEvents(events []Event) string {
	last := events[len(events)-1]
	when := " at " + formatInstant(last.OccurredAt)
	switch last.Type {
	case Send:
		return "The provider accepted the message" + when + "."
	case Reject:
		return "The provider rejected it" + when + "." + k.quote(last, "reject_reason", " Its reason: ")
	case RenderingFailure:
		return "The provider could not render it" + when + "." + k.quote(last, "errorMessage", " Its reason: ")
	case DeliveryDelay:
		return "Delivery was delayed" + times(events, when) + "." + k.quote(last, "delay_type", " Delay type: ")
	case Delivery:
		return "The receiving server accepted it" + when + "." + k.quote(last, "smtp_response", " It answered: ")
	case Bounce:
		return "It bounced" + times(events, when) + ", as " + kindOf(last) + "." + k.quote(last, "smtp_response", " The server answered: ")
	case Open:
		return "An open was recorded" + times(events, when) + ". Programs that load images count as well."
	case Click:
		return "A click was recorded" + times(events, when) + ". Programs that check links count as well."
	case Complaint:
		if k.isListComplaint(last) {
			return "The provider sent nothing" + when + ": the address is on the account's suppression list because of a complaint."
		}
		return "The recipient complained about it" + when + "." + k.quote(last, "complaint_feedback_type", " Feedback type: ")
	}
	return "The recipient changed a subscription" + when + "."
}

// isListComplaint reports whether e is a complaint that the provider reports without
// sending, because the address is on the account's suppression list.
func (k *course) isListComplaint(e Event) bool {
	sub, _ := k.hide.Metadata(e.Metadata)["complaintSubType"].(string)
	return e.Type == Complaint && sub == OnAccountList
}

func times(events []Event, last string) string {
	if len(events) == 1 {
		return last
	}
	return fmt.Sprintf(" %d times, last%s", len(events), last)
}

// kindOf returns the type and sub type of a bounce, quoted because the provider may send
// any text.
func kindOf(e Event) string {
	if e.Bounced == nil {
		return core.Quote(UndeterminedBounce)
	}
	return core.Quote(strings.TrimSpace(e.Bounced.Type + " " + e.Bounced.SubType))
}

// tally returns one [Claim], which counts the recipients by their most significant event.
// It returns nil for fewer than two recipients.
func tally(courses []*course) []Claim {
	if len(courses) < 2 {
		return nil
	}
	count := map[EventType]int{}
	for _, k := range courses {
		count[k.mostSignificant().Type]++
	}
	var parts []string
	for _, t := range []EventType{Complaint, Bounce, Reject, RenderingFailure, Click, Open, Subscription, Delivery, DeliveryDelay, Send} {
		if count[t] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", count[t], t))
		}
	}
	return []Claim{{Text: fmt.Sprintf("Of %d recipients, by their highest-ranked event: %s.", len(courses), strings.Join(parts, ", "))}}
}

var suppressionReasons = map[string]string{
	"bounce": "because a message to it bounced", "complaint": "because of a complaint", "manual": "because a person added it",
}

func (s *suppressionAnswer) claims() []Claim {
	switch {
	case s == nil:
		return nil
	case s.err != nil:
		return []Claim{{Text: "The account's suppression list could not be read now, so it is not known whether the recipient is on it."}}
	case s.entry == nil:
		return []Claim{{Text: "The recipient is not on the account's suppression list now."}}
	}
	text := "The recipient is on the account's suppression list since " + formatInstant(s.entry.At)
	if why := suppressionReasons[s.entry.Reason]; why != "" {
		text += ", " + why
	}
	return []Claim{{Text: text + ". The account sends nothing to an address on this list."}}
}

// withheldClaims returns a claim with the scopes that the caller lacks to read the
// suppression and undeliverable lists. Without it, the caller might conclude that the
// recipient is on neither list.
func withheldClaims(c *core.Call, recipient string) []Claim {
	var missing []string
	for _, scope := range []core.Scope{core.SuppressionsView, core.UndeliverableView} {
		if !c.Principal.Scopes.Has(scope) {
			missing = append(missing, "`"+string(scope)+"`")
		}
	}
	if recipient == "" || len(missing) == 0 {
		return nil
	}
	return []Claim{{Text: "This diagnosis does not include all suppression and undeliverable lists: the credential lacks " + strings.Join(missing, " and ") + "."}}
}

func undeliverableClaims(listed *UndeliverableRecipient) []Claim {
	if listed == nil {
		return nil
	}
	return []Claim{{
		Text: "The recipient is on the undeliverable list by the rule " + core.Quote(listed.Reason) + ", last for an event at " + formatInstant(listed.LastSeenAt) + ". That list is advice and blocks no mail.",
	}}
}
