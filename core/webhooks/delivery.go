package webhooks

import (
	"time"

	"github.com/mailhelm/mailhelm/core/standardhooks"
)

// State is the state of a delivery.
type State string

// The states of a delivery. Pending waits for an attempt, Sending is being sent by a
// process, and Accepted and Failed are final until a person resends the delivery.
const (
	Pending  State = "pending"
	Sending  State = "sending"
	Accepted State = "delivered"
	Failed   State = "failed"
)

// Delivery is one event for one endpoint.
type Delivery struct {
	// ID is the header webhook-id. It is derived from the event and the endpoint, so it is the
	// same in every attempt and after a crash.
	ID         string
	EndpointID string
	Type       EventType
	MessageID  string
	Recipient  string
	Test       bool
	Body       string // JSON
	State      State
	// Attempts counts all attempts. It is the fencing token: only the process of the last
	// attempt may store an outcome. Tries counts the attempts since the delivery was created
	// or resent.
	Attempts, Tries int
	CreatedAt       time.Time
	// DueAt is the time of the next attempt. While the delivery is being sent, it is the end of
	// the lease. It is nil in the states Accepted and Failed.
	DueAt *time.Time
	// AnsweredAt, Status, Problem and Answer are of the last completed attempt. AnsweredAt is
	// nil before the first.
	AnsweredAt *time.Time
	Status     int
	Problem    standardhooks.Problem
	Answer     string
}

// Filter selects deliveries of an endpoint for a page, newest first.
type Filter struct {
	OnlyFailed bool
	// Before is the last delivery of the previous page, nil on the first page.
	Before *Position
	Limit  int
}

// Position is the place of a delivery in a list that is sorted newest first.
type Position struct {
	CreatedAt time.Time
	ID        string
}

// settle returns the delivery after an attempt that was answered at now.
func (d Delivery) settle(a standardhooks.Answer, now time.Time) Delivery {
	d.AnsweredAt, d.Status, d.Problem, d.Answer = &now, a.Status, a.Problem, a.Text
	wait, again := standardhooks.RetryAfter(d.Tries)
	switch {
	case a.Delivered():
		d.State, d.DueAt = Accepted, nil
	case again:
		due := now.Add(wait)
		d.State, d.DueAt = Pending, &due
	default:
		d.State, d.DueAt = Failed, nil
	}
	return d
}
