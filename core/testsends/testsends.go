package testsends

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/sending"
)

// The limits of test sends.
const (
	// MaxAddresses is the maximum number of addresses of one test send.
	MaxAddresses = 10
	// PerHour is the maximum number of test sends of an organization in one hour.
	PerHour = 10
	// patience is how long a test send waits for the sending account.
	patience = 25 * time.Second
	// subjectPrefix marks the subjects of test messages.
	subjectPrefix = "[TEST] "
)

// Config configures [Sends]. All fields are required.
type Config struct {
	Store      Store
	Recipients handover.Store
	Steps      Steps
	Transactor core.Transactor
	// Wait waits until the time, or until ctx ends.
	Wait  func(ctx context.Context, until time.Time)
	Clock core.Clock
	Log   *slog.Logger
}

// Steps passes messages to the account; see [handover.Handover].
type Steps interface {
	Step(ctx context.Context, orgID, sendID string, m handover.Mailing) (handover.Progress, error)
	Abandon(ctx context.Context, orgID, sendID, reason string) error
}

// Store stores test sends. It takes part in the transaction of its context.
type Store interface {
	// Begin stores a test send, unless the organization has had most of them since the given
	// time. It then returns the time of the earliest of these and stores nothing; otherwise
	// the zero time. Concurrent calls of one organization wait for each other.
	Begin(ctx context.Context, orgID string, t TestSend, since time.Time, most int) (earliest time.Time, err error)
}

// TestSend is one test send.
type TestSend struct {
	ID string
	// Kind and SubjectID name what is tested: "broadcast" with its id, or "template" with its
	// slug.
	Kind, SubjectID string
	At              time.Time
	// ByKind, ByID and ByUser name the caller.
	ByKind, ByID, ByUser string
}

// Request is a test send to make.
type Request struct {
	Kind, SubjectID string
	Addresses       []string
	// Message returns the message to an address.
	Message func(ctx context.Context, address string) (sending.Message, error)
}

// Outcome is the result for one address.
type Outcome struct {
	Recipient string `json:"recipient" voice:"untrusted"`
	Status    string `json:"status" jsonschema:"enum=sent,enum=failed"`
	MessageID string `json:"message_id,omitempty" voice:"ours" jsonschema_description:"The provider's id, if it was sent."`
	Error     string `json:"error,omitempty" voice:"untrusted" jsonschema_description:"Why it was not sent."`
}

// Result has the outcomes in the order of the addresses.
type Result struct {
	Results []Outcome `json:"results"`
	Sent    int       `json:"sent"`
	Total   int       `json:"total"`
}

// Sends makes test sends.
type Sends struct{ Config }

// New returns a Sends.
func New(cfg Config) *Sends { return &Sends{cfg} }

// Send sends the test messages and returns the outcome of each. It calls the sending
// account, so it must not run in a transaction. It fails with core.CodeRateLimited after
// PerHour test sends in an hour, and with core.CodeUpstreamUnavailable if the account does
// not say how many messages it accepts.
func (s *Sends) Send(ctx context.Context, c *core.Call, r Request) (Result, error) {
	org, id := c.Principal.Org.ID, core.NewID()
	if err := s.begin(ctx, c, id, r); err != nil {
		return Result{}, err
	}
	if err := s.drive(ctx, org, id, r); err != nil {
		return Result{}, err
	}
	return s.outcomes(ctx, org, id, r)
}

// begin stores the test send and its recipients.
func (s *Sends) begin(ctx context.Context, c *core.Call, id string, r Request) error {
	org, now := c.Principal.Org.ID, s.Clock()
	recipients := make([]handover.Recipient, len(r.Addresses))
	for i, address := range r.Addresses {
		recipients[i] = handover.Recipient{Key: strconv.Itoa(i), Email: address}
	}
	t := TestSend{
		ID: id, Kind: r.Kind, SubjectID: r.SubjectID, At: now,
		ByKind: string(c.Principal.Credential.Kind), ByID: c.Principal.Credential.ID, ByUser: c.Principal.UserID,
	}
	return s.Transactor.InTx(ctx, func(ctx context.Context) error {
		earliest, err := s.Store.Begin(ctx, org, t, now.Add(-time.Hour), PerHour)
		if err != nil {
			return err
		}
		if !earliest.IsZero() {
			wait := earliest.Add(time.Hour).Sub(now).Truncate(time.Second) + time.Second
			return &core.Error{
				Code: core.CodeRateLimited, RetryAfter: wait,
				Message: fmt.Sprintf("The organization has made %d test sends in the last hour, which is the limit.", PerHour),
			}
		}
		return s.Recipients.Add(ctx, org, id, recipients, now)
	})
}

// drive passes the messages to the account, until none is pending. After patience, it ends
// the messages that were not passed.
func (s *Sends) drive(ctx context.Context, orgID, id string, r Request) error {
	until := s.Clock().Add(patience)
	pending := len(r.Addresses)
	reason := "The sending account has no room for further messages now. Try again in a minute."
	stepping, cancel := context.WithTimeout(ctx, patience) // a step waits for a database that is away
	defer cancel()
	for s.Clock().Before(until) && ctx.Err() == nil {
		p, err := s.Steps.Step(stepping, orgID, id, mailing{r})
		if err != nil {
			return errors.Join(unavailable(err), s.Steps.Abandon(ctx, orgID, id, "The sending account could not be asked."))
		}
		if pending -= p.Claimed + p.Filtered - p.Released; pending == 0 {
			return nil
		}
		if p.Hold == handover.AllMailStopped {
			reason = "A person stopped all mail of the organization. It can be allowed again on the dashboard."
			break
		}
		if p.Claimed == 0 && p.Wait.IsZero() || p.Wait.After(until) {
			break
		}
		if !p.Wait.IsZero() {
			s.Wait(ctx, p.Wait)
		}
	}
	return s.Steps.Abandon(ctx, orgID, id, reason)
}

// unavailable converts a failure of the account into the error that callers get. Other
// errors stay as they are.
func unavailable(err error) error {
	if _, ok := errors.AsType[*sending.Failure](err); ok {
		return sending.Unavailable(err)
	}
	return err
}

// outcomes reads the outcome of each address.
func (s *Sends) outcomes(ctx context.Context, orgID, id string, r Request) (Result, error) {
	result := Result{Total: len(r.Addresses)}
	for i, address := range r.Addresses {
		row, err := s.Recipients.Recipient(ctx, orgID, id, strconv.Itoa(i))
		if err != nil {
			return Result{}, err
		}
		out := Outcome{Recipient: address, Status: "failed", Error: row.Reason}
		switch row.State {
		case handover.Sent:
			out.Status, out.MessageID = "sent", row.MessageID
			result.Sent++
		case handover.HandingOver:
			out.Error = "The sending account did not answer in time. The message may arrive."
		}
		result.Results = append(result.Results, out)
	}
	return result, nil
}
