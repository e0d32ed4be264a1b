package activities

import (
	"encoding/json"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Source is the surface through which an activity was recorded.
type Source string

// The sources of activities. FromSite means a website or Mailhelm itself.
const (
	FromAPI   Source = "api"
	FromSite  Source = "site"
	FromAgent Source = "agent"
)

// Activity is one action of a contact at one time, such as a purchase.
type Activity struct {
	ID         string    `json:"activity_id" jsonschema:"format=uuid"`
	ContactID  string    `json:"contact_id" jsonschema:"format=uuid"`
	Name       string    `json:"name" voice:"untrusted"`
	OccurredAt time.Time `json:"occurred_at" jsonschema_description:"Time of the activity as sent. It is the time of receipt if none was sent, or one up to 5 minutes ahead."`
	ReceivedAt time.Time `json:"received_at"`
	Source     Source    `json:"source" jsonschema:"enum=api,enum=site,enum=agent"`
	// Properties has the JSON value of the request, byte for byte. It must stay the last
	// field, because appendJSON appends it after the other members.
	Properties json.RawMessage `json:"properties" voice:"untrusted" jsonschema_description:"Exactly as sent; {} if none were sent."`
}

// noProperties is stored for an activity that was sent without properties.
var noProperties = json.RawMessage(`{}`)

// Summary has the count and the first and last time of one contact's activities with the
// same name.
type Summary struct {
	Name       string    `json:"name" voice:"untrusted"`
	CountTotal int       `json:"count_total"`
	Count30d   int       `json:"count_30d" jsonschema_description:"Count in the last 30 days."`
	FirstAt    time.Time `json:"first_at"`
	LastAt     time.Time `json:"last_at"`
}

// Page is one page of activities.
type Page struct{ core.Page[Activity] }

// RESTView returns the page as an [Envelope], which has its own JSON encoding.
func (p Page) RESTView() Envelope { return Envelope(p.Page.RESTView()) }

// Envelope is a page of activities as the REST API returns it: the members data and
// pagination.
type Envelope core.Envelope[Activity]

// Next returns the cursor of the following page, or "" on the last page.
func (e Envelope) Next() string { return core.Envelope[Activity](e).Next() }

// AppendJSON appends the envelope as JSON to b. The properties of each activity stay as
// sent, byte for byte. Package json would remove their white space and escape HTML
// characters.
func (e Envelope) AppendJSON(b []byte) ([]byte, error) {
	b = append(b, `{"data":[`...)
	for i, activity := range e.Data {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = activity.appendJSON(b); err != nil {
			return nil, err
		}
	}
	pagination, err := json.Marshal(e.Pagination)
	if err != nil {
		return nil, err
	}
	b = append(b, `],"pagination":`...)
	b = append(b, pagination...)
	return append(b, '}'), nil
}

// appendJSON appends the activity as JSON to b. It encodes all members except properties
// with package json, and then appends the properties unchanged.
func (a Activity) appendJSON(b []byte) ([]byte, error) {
	properties := a.Properties
	a.Properties = json.RawMessage(`0`)
	record, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	const end = `0}`
	b = append(b, record[:len(record)-len(end)]...)
	b = append(b, properties...)
	return append(b, '}'), nil
}
