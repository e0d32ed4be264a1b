package messages

import (
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// AnswerWithin is the time within which a further event is expected after the Send. If
	// none has arrived by then, the diagnosis is "silent". Most servers answer within a
	// minute.
	AnswerWithin = 3 * time.Hour
	// triedFor is the time within which a further event is expected after a message's last
	// event of type delay. By then, the provider has delivered the message or given up. If
	// no event has arrived by then, the diagnosis is "silent".
	triedFor = 24 * time.Hour
)

// judgement is the outcome of a delivery, its explanation and the suggested remedies.
type judgement struct {
	outcome  Outcome
	text     string
	remedies []remedy
}

// judge returns the outcome of the message for one recipient. It is decided by the most
// significant of the recipient's events.
func (k *course) judge() judgement {
	e := k.mostSignificant()
	switch e.Type {
	case Complaint:
		return k.judgeComplaint(e)
	case Bounce:
		return k.judgeBounce(e)
	case Reject:
		return judgement{NotSent, "The provider rejected the message, usually because of harmful content. Nothing was sent." +
			k.quote(e, "reject_reason", " Its reason: "), []remedy{checkContent, findSameTemplate}}
	case RenderingFailure:
		return judgement{NotSent, "The provider accepted the message but could not render its template, so nothing was sent." +
			k.quote(e, "errorMessage", " Its reason: "), []remedy{fixTemplate, findSameTemplate}}
	case Delivery, Open, Click, Subscription:
		return k.judgeArrival(e)
	case DeliveryDelay:
		return k.judgeDelay(e)
	}
	return k.judgeSilence(e)
}

func (k *course) judgeComplaint(e Event) judgement {
	if k.isListComplaint(e) {
		return judgement{
			NotSent, "Nothing was sent: the recipient complained about an earlier message, so the address is on the account's suppression list.",
			[]remedy{respectComplaint, checkSuppression},
		}
	}
	return judgement{
		Complained, "The message arrived, and the recipient complained about it at " + formatInstant(e.OccurredAt) + ". Each complaint harms the account's reputation with mailbox providers.",
		[]remedy{respectComplaint, checkSuppression, readHealth},
	}
}

// judgeArrival returns the outcome of a message that the receiving server accepted. A
// sender cannot learn in which folder the server put it.
func (k *course) judgeArrival(e Event) judgement {
	switch e.Type {
	case Click:
		return judgement{Arrived, "The message arrived: a link in it was clicked.", nil}
	case Open:
		return judgement{Arrived, "The message arrived: its images were loaded, by a reader or by a program of the mailbox provider.", nil}
	case Subscription:
		return judgement{Arrived, "The message arrived: its recipient used it to change their subscriptions.", nil}
	}
	return judgement{
		Arrived, "The receiving server accepted the message at " + formatInstant(e.OccurredAt) + ", so it arrived. Servers do not report the folder in which they put a message. " +
			"No open is recorded: it was not opened, was opened without images, or its channel does not track opens.",
		[]remedy{lookInSpam, readHealth},
	}
}

func (k *course) judgeDelay(e Event) judgement {
	kind, _ := k.hide.Metadata(e.Metadata)["delay_type"].(string)
	cause := delays[kind]
	if cause.why == "" {
		cause = delays["Undetermined"]
	}
	if k.now.Sub(e.OccurredAt) > triedFor {
		return judgement{Silent, "Delivery was delayed, last at " + formatInstant(e.OccurredAt) + ", because " + cause.why +
			". No event was received since, for longer than the provider retries, so the outcome is unknown.", slices.Concat(cause.remedies, []remedy{checkEvents, checkReadiness})}
	}
	return judgement{
		Delayed, "The message has not arrived yet: delivery was delayed, last at " + formatInstant(e.OccurredAt) + ", because " + cause.why + ". The provider keeps retrying.",
		slices.Concat([]remedy{waitAndSee}, cause.remedies),
	}
}

func (k *course) judgeSilence(e Event) judgement {
	sent := e.OccurredAt
	if sent.IsZero() {
		sent = k.message.SentAt
	}
	if k.now.Sub(sent) <= AnswerWithin {
		return judgement{Underway, "The provider accepted the message at " + formatInstant(sent) + " and has reported no other event yet.", []remedy{waitAndSee}}
	}
	return judgement{Silent, "The provider accepted the message at " + formatInstant(sent) + " and has reported no other event, although a delivery or a bounce is usually reported within minutes. " +
		"Either its events do not reach Mailhelm, or the provider has not sent it yet.", []remedy{checkEvents, checkReadiness}}
}

func (k *course) judgeBounce(e Event) judgement {
	cause := causeOf(e)
	text := "The message did not arrive: " + cause.why + "."
	outcome := Bounced
	if cause.unsent {
		text, outcome = "Nothing was sent: "+cause.why+".", NotSent
	}
	if k.has(Delivery) && !cause.unsent {
		text = "The receiving server first accepted the message and then returned it: " + cause.why + "."
	}
	return judgement{outcome, text + k.quote(e, "smtp_response", " The server answered: "), cause.remedies}
}

// causeOf returns the cause of a bounce. For an unknown sub type, it returns the cause of
// the bounce's type and appends the provider's name of the sub type.
func causeOf(e Event) cause {
	kind := BounceKind{Type: UndeterminedBounce}
	if e.Bounced != nil {
		kind = *e.Bounced
	}
	if found, ok := bounces[kind]; ok {
		return found
	}
	found := bounces[BounceKind{Type: kind.Type}]
	if kind.SubType != "" {
		found.why += "; the provider's sub type is " + core.Quote(kind.SubType)
	}
	return found
}
