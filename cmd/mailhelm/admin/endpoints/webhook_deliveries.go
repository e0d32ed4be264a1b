package endpoints

import (
	"context"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/core/webhooks"
)

// deliveryJSON is the form in which --json prints a delivery.
type deliveryJSON struct {
	// ID is the header webhook-id of the requests.
	ID         string             `json:"id"`
	EndpointID string             `json:"endpoint_id"`
	Event      webhooks.EventType `json:"event"`
	MessageID  string             `json:"message_id"`
	Test       bool               `json:"test"`
	State      webhooks.State     `json:"state"`
	Attempts   int                `json:"attempts"`
	// Status and Problem are of the last attempt: the HTTP status, or 0 and the reason for
	// which there was no response.
	Status        int                   `json:"status"`
	Problem       standardhooks.Problem `json:"problem"`
	NextAttemptAt *time.Time            `json:"next_attempt_at"`
	CreatedAt     time.Time             `json:"created_at"`
}

func newDeliveryJSON(d webhooks.Delivery) deliveryJSON {
	shown := deliveryJSON{
		ID: d.ID, EndpointID: d.EndpointID, Event: d.Type, MessageID: d.MessageID, Test: d.Test, State: d.State, Attempts: d.Attempts,
		Status: d.Status, Problem: d.Problem, CreatedAt: d.CreatedAt,
	}
	if d.State == webhooks.Pending {
		shown.NextAttemptAt = d.DueAt
	}
	return shown
}

// answer returns the outcome of the last attempt for a table.
func (d deliveryJSON) answer() string {
	if d.Status > 0 {
		return strconv.Itoa(d.Status)
	}
	return string(d.Problem)
}

// printDelivery prints one delivery, as JSON with --json and otherwise as a table.
func printDelivery(s *installation.Session, d webhooks.Delivery) error {
	shown := newDeliveryJSON(d)
	if s.JSON {
		return s.PrintJSON(shown)
	}
	return s.PrintTable("", [][]string{{"id", shown.ID}, {"event", string(shown.Event)}, {"state", string(shown.State)}})
}

// webhookDeliveries is `mailhelm admin webhook deliveries`.
type webhookDeliveries struct {
	webhookTarget
	Failed bool `help:"Only deliveries that failed for good." once:""`
	Limit  int  `help:"Number of deliveries, at most 1000." default:"50" once:""`
}

// maxDeliveries is the most deliveries that the command prints.
const maxDeliveries = 1000

// Run lists deliveries of the last 30 days. Recipients are not printed; the dashboard shows
// them.
func (c *webhookDeliveries) Run(p *cli.Program) error {
	return c.on(p, func(ctx context.Context, s *installation.Session, org core.Org, e webhooks.Endpoint) error {
		found, err := s.DB.Webhooks().Deliveries(ctx, org.ID, e.ID, webhooks.Filter{OnlyFailed: c.Failed, Limit: min(max(c.Limit, 1), maxDeliveries)})
		if err != nil {
			return err
		}
		header := []string{"CREATED", "EVENT", "STATE", "ANSWER", "ATTEMPTS", "NEXT ATTEMPT", "ID"}
		return installation.PrintList(s, "deliveries", header, found, func(d webhooks.Delivery) (deliveryJSON, []string) {
			one := newDeliveryJSON(d)
			return one, []string{
				installation.Instant(&one.CreatedAt), string(one.Event), string(one.State), one.answer(), strconv.Itoa(one.Attempts), installation.Instant(one.NextAttemptAt), one.ID,
			}
		})
	})
}
