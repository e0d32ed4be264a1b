// Package mailstatus has the words and colours for the events of a message and for its
// status, which is the type of its most significant event. All pages use them, so that a
// message has the same status in the search, on its own page and on the page of a contact.
package mailstatus

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Status is how pages show a type of event, which is also the status of a message.
type Status struct {
	// Type is the provider's name, such as "DeliveryDelay". Value is the name in the address
	// of a page, such as "delay". It is "" for a type that no filter selects.
	Type, Value string
	// Name is the word for the status of a message, such as "Delayed". Mark is the class of
	// its mark in the stylesheet, by which it has the same colour as in charts.
	Name, Mark string
	// Event is the heading of such an event in a timeline.
	Event string
}

// statuses are the types of events in the order in which they usually occur.
var statuses = []Status{
	{"Send", "send", "Sent", "sent", "Accepted by the provider"},
	{"Reject", "reject", "Rejected", "bounced", "Rejected by the provider"},
	{"RenderingFailure", "rendering_failure", "Not rendered", "bounced", "Template not rendered"},
	{"DeliveryDelay", "delay", "Delayed", "delayed", "Delivery delayed"},
	{"Delivery", "delivery", "Delivered", "delivered", "Accepted by the receiving server"},
	{"Bounce", "bounce", "Bounced", "bounced", "Bounced"},
	{"Open", "open", "Opened", "opened", "Opened"},
	{"Click", "click", "Clicked", "clicked", "Link clicked"},
	{"Complaint", "complaint", "Complained", "complained", "Reported as spam"},
	{"Subscription", "", "Subscription", "sent", "Subscription changed"},
}

// All returns the known types of events, in the order in which they usually occur.
func All() []Status { return slices.Clone(statuses) }

// Of returns how pages show a type of event. A type that this package does not know keeps
// its name, without invisible characters.
func Of(eventType string) Status {
	for _, s := range statuses {
		if s.Type == eventType {
			return s
		}
	}
	name := core.OnlyVisible(eventType)
	return Status{Type: eventType, Name: name, Mark: "sent", Event: name}
}

// Named returns the status with this name in the address of a page, in any case. The
// provider's name is accepted too.
func Named(value string) (Status, bool) {
	for _, s := range statuses {
		if s.Value != "" && (strings.EqualFold(s.Value, value) || strings.EqualFold(s.Type, value)) {
			return s, true
		}
	}
	return Status{}, false
}
