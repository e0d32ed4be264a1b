package demodata

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/mailhistory"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage"
)

// Past creates a connected sending account and 90 days of email events for the demo
// organization, the members that its segments had in this time, the calls of an assistant,
// an import of a contact file, a webhook endpoint, images, broadcasts, and workflows with runs.
// All fields except Ahead and Progress are required.
type Past struct {
	DB          *storage.DB
	Account     *simulator.Simulator
	Connections sending.Connections
	// Forget removes an organization's connection from this process's cache of connections;
	// see [sending.Connecting].
	Forget  func(orgID string)
	Domains catalogue.Domains
	// Webhooks manages webhook endpoints.
	Webhooks webhooks.Webhooks
	Clock    core.Clock
	// Ahead, if not nil, has the events already.
	Ahead *Ahead
	// Progress, if not nil, receives the number of events stored so far and the total
	// number.
	Progress func(done, all int)
}

// recordedAtOnce is the number of events stored in one batch. Larger batches are not
// faster, and the displayed progress would jump.
const recordedAtOnce = 2_000

// Recipients holds the probabilities with which the simulator's recipients react to mail
// that a user of the demo sends.
var Recipients = simulator.Behaviour{Delay: 0.01, Bounce: 0.01, Open: 0.45, Click: 0.25, Unsubscribe: 0.01, Complaint: 0.001}

// Ensure creates the demo's past mail unless the organization already has messages. It does
// not replace existing messages, because the user may have changed them. It may be repeated
// after an interruption.
func (p Past) Ensure(ctx context.Context, orgID string) error {
	found, err := p.Domains.Messages.Store.CountMessages(ctx, orgID, messages.Filter{
		Window: core.Window{From: time.Time{}, To: p.Clock().AddDate(1, 0, 0)}, Limit: 1,
	})
	if err != nil || found > 0 {
		return err
	}
	if err := p.make(ctx, orgID); err != nil {
		return fmt.Errorf("history of the demo: %w", err)
	}
	return nil
}

// make stores the demo's past in one transaction, so an interrupted start stores none of it
// and the next start begins again. The simulated account is stored outside the
// transaction; storing it again is harmless.
func (p Past) make(ctx context.Context, orgID string) error {
	ahead := p.Ahead
	if ahead == nil {
		ahead = ParseAhead(p.Clock())
	}
	now := ahead.now
	events, err := ahead.wait()
	if err != nil {
		return err
	}
	if err := p.DB.ExpectBulk(ctx); err != nil {
		return err
	}
	if err := p.Account.Seed(ctx, orgID, accountOf(events, now)); err != nil {
		return err
	}
	return p.DB.InTx(ctx, func(ctx context.Context) error {
		for _, step := range []func(context.Context, string) error{p.connect, p.grant, p.channels, p.Domains.Templates.Sync, images{p.Domains.Assets}.add, p.write, p.assistant, p.importFile} {
			if err := step(ctx, orgID); err != nil {
				return err
			}
		}
		if err := p.record(ctx, orgID, events); err != nil {
			return err
		}
		if err := p.webhook(ctx, orgID, events); err != nil {
			return err
		}
		if err := p.exclude(ctx, orgID, events); err != nil {
			return err
		}
		if err := p.broadcasts(ctx, orgID, events); err != nil {
			return err
		}
		if err := p.workflows(ctx, orgID, events); err != nil {
			return err
		}
		if err := retain(ctx, p, orgID); err != nil {
			return err
		}
		// A job does this later. It would change the numbers of recipients a moment after the demo is ready.
		if err := p.Domains.Segments.CopySuppressed(ctx, orgID); err != nil {
			return err
		}
		return p.evaluate(ctx, orgID)
	})
}

// Ahead has the events of the demo's past once they are computed. This takes half a second, in
// which the server starts.
type Ahead struct {
	now  time.Time
	wait func() ([]messages.Event, error)
}

// ParseAhead begins to compute the events until now, in a goroutine of its own.
func ParseAhead(now time.Time) *Ahead {
	a := &Ahead{now: now, wait: sync.OnceValues(func() ([]messages.Event, error) { return parseHistory(now) })}
	go func() { _, _ = a.wait() }() // the next call returns the same
	return a
}

// historyAt returns the events of the demo's mail until now.
func historyAt(now time.Time) []mailhistory.Event {
	return mailhistory.Events(now, audienceOf(allPeople(now)))
}

// parseHistory returns the events of the demo's mail, parsed as the server parses notifications of
// Amazon SES. Parsing returns one event for each recipient; each of these events has one
// recipient, so the number of events stays the same.
func parseHistory(now time.Time) ([]messages.Event, error) {
	var events []messages.Event
	for _, past := range historyAt(now) {
		some, err := messages.ParseSES(past.Raw, past.At)
		if err != nil {
			return nil, err
		}
		events = append(events, some...)
	}
	return events, nil
}

// connect stores a connection to the simulated account. It also stores that the newest
// version of the infrastructure template (the AWS CloudFormation template that sets up the
// account) is installed there. Both changes appear in the audit log.
func (p Past) connect(ctx context.Context, orgID string) error {
	connecting := sending.Connecting{Connections: p.Connections, Transactor: p.DB, Clock: p.Clock, Record: p.audit, Forget: p.Forget}
	if _, err := connecting.Connect(ctx, sending.NewConnection{OrgID: orgID, Provider: sending.Simulated}); err != nil {
		return err
	}
	_, err := connecting.SetTemplateVersion(ctx, orgID, sending.LatestTemplateVersion)
	return err
}

// audit appends an event to the organization's audit log. The actor is Mailhelm itself.
func (p Past) audit(ctx context.Context, orgID, action string, detail map[string]any) error {
	text, err := json.Marshal(detail)
	if err != nil {
		return err
	}
	return p.DB.Audit().AppendAudit(ctx, access.AuditEvent{
		ID: core.NewID(), OrgID: orgID, OccurredAt: p.Clock(), Action: action,
		ActorKind: "system", ActorID: "mailhelm", SubjectID: orgID, Detail: string(text),
	})
}

// grant stores a request for production access, which was granted on the day after the
// request. Both dates are before the first message of the history.
func (p Past) grant(ctx context.Context, orgID string) error {
	asked := p.Clock().AddDate(0, 0, -mailhistory.Days-7)
	granted := asked.AddDate(0, 0, 1)
	r := sending.AccessRequest{
		ID: core.NewID(), Status: sending.AccessUnderReview, CreatedAt: asked, UpdatedAt: asked,
		ProductionRequest: sending.ProductionRequest{
			MailType: sending.Promotional, Website: "https://example.com",
			UseCase: "Receipts for orders in our shop, and a weekly newsletter to customers who signed up for it on our website.",
		},
	}
	if err := p.DB.ProductionRequests().InsertRequest(ctx, orgID, r); err != nil {
		return err
	}
	r.Status, r.UpdatedAt, r.GrantedAt = sending.AccessGranted, granted, &granted
	_, err := p.DB.ProductionRequests().DecideRequest(ctx, orgID, r)
	return err
}

// channels reads the channels from the sending account and activates three of them:
// transactional, marketing and onboarding. The channel named default stays in the state
// discovered, which every channel has when it is first read.
func (p Past) channels(ctx context.Context, orgID string) error {
	if err := p.Domains.Channels.Sync(ctx, orgID); err != nil {
		return err
	}
	for _, slug := range []string{"transactional", "marketing", "onboarding"} {
		if _, err := p.Domains.Channels.Adopt(ctx, orgID, slug); err != nil {
			return err
		}
	}
	return p.Domains.Channels.Verify(ctx, orgID)
}

// record stores the events in batches of recordedAtOnce and reports progress after each
// batch. It runs in the transaction of ctx.
func (p Past) record(ctx context.Context, orgID string, events []messages.Event) error {
	for done := 0; done < len(events); {
		next := min(done+recordedAtOnce, len(events))
		if _, err := p.Domains.Messages.Record(ctx, orgID, events[done:next]); err != nil {
			return err
		}
		done = next
		if p.Progress != nil {
			p.Progress(done, len(events))
		}
	}
	return nil
}

// exclude marks the first address that bounced permanently as deliverable again, with a
// reason, so that the demo has an example of an excluded address. Without a permanent bounce
// it does nothing.
func (p Past) exclude(ctx context.Context, orgID string, events []messages.Event) error {
	for _, e := range events {
		if !isPermanentBounce(e) {
			continue
		}
		entry := suppression.Entry{Key: suppression.AddressKey(e.Recipient)}
		_, err := p.Domains.Suppression.Exclude(ctx, orgID, entry.ID(), "Wrote from a new mailbox; the old one works again.")
		return err
	}
	return nil
}

// isPermanentBounce reports whether the event is a permanent bounce.
func isPermanentBounce(e messages.Event) bool {
	return e.Type == messages.Bounce && e.Bounced != nil && e.Bounced.Type == messages.PermanentBounce
}
