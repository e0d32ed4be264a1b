package mailhistory

import (
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// pastMail is one message: its kind, its recipient, when it was sent, and its id at the
// provider.
type pastMail struct {
	kind Letter
	to   string
	at   time.Time
	id   string
}

// recipients returns a list with one recipient in the form of Amazon SES bounce and
// complaint events. It leaves out an empty status or diagnostic.
func recipients(to, status, diagnostic string) []map[string]string {
	r := map[string]string{"emailAddress": to}
	if status != "" {
		r["status"] = status
	}
	if diagnostic != "" {
		r["diagnosticCode"] = diagnostic
	}
	return []map[string]string{r}
}

// members maps each Amazon SES event type to the JSON member that holds its details.
var members = map[string]string{
	"Send": "send", "Delivery": "delivery", "Bounce": "bounce", "Complaint": "complaint",
	"Open": "open", "Click": "click", "DeliveryDelay": "deliveryDelay",
	"Reject": "reject", "Rendering Failure": "failure",
}

// add appends one event of a message, in the form that Amazon SES publishes, unless the
// event is in the future. kind is an event type, a key of the map members. The details of
// sends, rejections and rendering failures have no timestamp.
func (h *history) add(kind string, m pastMail, at time.Time, details map[string]any) {
	if at.After(h.now) {
		return
	}
	eventDetails := map[string]any{}
	for name, value := range details {
		eventDetails[name] = value
	}
	if kind != "Send" && kind != "Reject" && kind != "Rendering Failure" {
		eventDetails["timestamp"] = at.Format(time.RFC3339Nano)
	}
	raw, err := json.Marshal(map[string]any{
		"eventType": kind, members[kind]: eventDetails,
		"mail": map[string]any{
			"timestamp": m.at.Format(time.RFC3339Nano), "messageId": m.id,
			"source": "Fernhill Coffee <" + m.kind.From + ">", "destination": []string{m.to},
			"tags":          map[string][]string{"ses:configuration-set": {m.kind.Channel}, core.TemplateTag: {m.kind.Template}},
			"commonHeaders": map[string]any{"from": []string{"Fernhill Coffee <" + m.kind.From + ">"}, "subject": m.kind.Subject},
		},
	})
	if err != nil {
		panic(err) // cannot happen: the object contains only values that JSON can represent
	}
	h.events = append(h.events, Event{at, raw})
}
