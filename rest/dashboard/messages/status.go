package messages

import (
	"strings"

	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// status is how the pages show a type of event, which is also the status of a message.
type status struct {
	// Type is the provider's name. Value is the name in the page's address.
	Type, Value string
	// Name is the word for the status of a message. Mark is the class of its mark in the
	// stylesheet, by which it has the same colour as in charts.
	Name, Mark string
	// Event is the heading of such an event in the timeline.
	Event string
}

// statuses are the types of events in the order in which they usually occur.
var statuses = []status{
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

// statusOf returns how the pages show a type of event. A type that this package does not
// know keeps its name.
func statusOf(eventType string) status {
	for _, s := range statuses {
		if s.Type == eventType {
			return s
		}
	}
	name := frame.PlainName(eventType)
	return status{Type: eventType, Name: name, Mark: "sent", Event: name}
}

// statusNamed returns the status with this name in the page's address, in any case. The
// provider's name is accepted too.
func statusNamed(value string) (status, bool) {
	for _, s := range statuses {
		if s.Value != "" && (strings.EqualFold(s.Value, value) || strings.EqualFold(s.Type, value)) {
			return s, true
		}
	}
	return status{}, false
}

// statusOptions returns the options of the filter by status.
func statusOptions(chosen string) []frame.Option {
	var options []frame.Option
	for _, s := range statuses {
		if s.Value != "" {
			options = append(options, frame.Option{Value: s.Value, Name: s.Name})
		}
	}
	return frame.ChooseOption(options, chosen)
}

// outcome is how the page of a message shows the outcome of its diagnosis.
type outcome struct{ Name, Mark string }

// outcomes are the outcomes by the name in the operation messages_diagnose.
var outcomes = map[string]outcome{
	"arrived":    {"Arrived", "delivered"},
	"complained": {"Arrived, and the recipient complained", "complained"},
	"bounced":    {"Did not arrive", "bounced"},
	"not_sent":   {"Not sent", "bounced"},
	"delayed":    {"Delayed", "delayed"},
	"underway":   {"On its way", "sent"},
	"silent":     {"Unknown", "delayed"},
}
