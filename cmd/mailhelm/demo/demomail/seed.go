package demomail

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/senders"
)

const (
	// Domain is the receiving domain of the demo. It is below a verified sending domain.
	Domain = "orders.example.com"
	// InboxLabel is the label of the inbox with the messages.
	InboxLabel = "Sign-up of Tidewater"

	orderLocalPart = "order-1043"
	// restrictedLabel is the label of an inbox with allowed senders, and expiredLabel that of
	// one that has ended.
	restrictedLabel, expiredLabel = "Only our own mail", "Nightly sign-up test"
	// inboxLife is the longest life of an inbox in seconds.
	inboxLife = 3600
	// patience limits how long the seeding waits for one step of the server.
	patience = 15 * time.Second
	// lookEvery is the time between two looks at the result of a step.
	lookEvery = 50 * time.Millisecond
)

// Seeder gives the demo's organization received mail. All fields are required.
type Seeder struct {
	API API
	// SMTP is the address of the server's SMTP listener, as host:port.
	SMTP     string
	Names    *Names
	Receiver *Receiver
	OrgID    string
	UserID   string // the person who signs in
	Inboxes  InboxStore
	Senders  senders.Store
	Domains  receiving.Store
	Queue    receiving.Queue
	Sealer   receiving.Sealer
	Tx       core.Transactor
	Clock    core.Clock
	Log      *slog.Logger
}

// InboxStore stores inboxes and their counts.
type InboxStore interface {
	inboxes.Store
	inboxes.DeliveryStore
}

// Ensure makes the mail. At the first start of a data folder it makes everything. At a later
// start it makes an inbox with messages if the previous one has ended, because inboxes live an
// hour, and moves webhooks to the address of the receiver. It leaves what a person changed.
func (s Seeder) Ensure(ctx context.Context) error {
	s.Receiver.Accept(s.secrets)
	log, err := s.API.log(ctx)
	if err != nil {
		return err
	}
	if len(log) > 0 {
		err = s.moveWebhooks(ctx)
	} else {
		err = s.past(ctx)
	}
	if err != nil {
		return err
	}
	if err := s.inbox(ctx); err != nil {
		return err
	}
	if len(log) > 0 {
		return nil
	}
	return s.mailDomain(ctx)
}

// past makes what belongs to the first start, except for the mail of the domain: so that the
// webhook is published while the inboxes are made.
func (s Seeder) past(ctx context.Context) error {
	if err := s.expiredInbox(ctx); err != nil {
		return err
	}
	if err := s.claims(ctx); err != nil {
		return err
	}
	return s.domain(ctx)
}

// expiredInbox stores an inbox that ended an hour ago. It has no messages any more.
func (s Seeder) expiredInbox(ctx context.Context) error {
	found, err := s.Inboxes.Inboxes(ctx, s.OrgID, inboxes.Filter{Limit: 1, Now: s.Clock()})
	if err != nil || len(found) > 0 {
		return err
	}
	ended := s.Clock().Add(-time.Hour)
	i := inboxes.Inbox{
		ID: core.NewID(), OrgID: s.OrgID, LocalPart: "k7qd0tnv2m8xw4rb", Owner: s.UserID, Caller: "/" + s.UserID, Label: expiredLabel, Visibility: inboxes.Shared,
		CreatedAt: ended.Add(-10 * time.Minute), ExpiresAt: ended,
	}
	secret := rand.Text() // of the pull link, which is not shown
	hash := sha256.Sum256([]byte(secret))
	i.First = inboxes.Token{ID: core.NewID(), InboxID: i.ID, Hash: hash[:], Prefix: secret[:8], Label: "default", CreatedAt: i.CreatedAt}
	if _, err := s.Inboxes.InsertInbox(ctx, i); err != nil {
		return err
	}
	return s.Inboxes.CountReceived(ctx, []inboxes.Count{{Target: inboxes.Target{OrgID: s.OrgID, InboxID: i.ID}, Accepted: 2, Dropped: 1}})
}

// claims stores a verified sender of the person, and one whose code was not entered.
func (s Seeder) claims(ctx context.Context) error {
	now := s.Clock().UTC().Truncate(time.Microsecond)
	proven := now.AddDate(0, 0, -12)
	for _, c := range []senders.Claim{
		{Email: "robin@example.com", VerifiedAt: &proven, CreatedAt: proven.Add(-time.Minute), CodeExpiresAt: proven},
		{Email: "orders@example.org", CreatedAt: now, CodeExpiresAt: now.Add(senders.CodeLifetime)},
	} {
		c.ID, c.Owner, c.StartID = core.NewID(), s.UserID, core.NewID()
		if _, err := s.Senders.InsertClaim(ctx, s.OrgID, c); err != nil {
			return err
		}
	}
	return nil
}

// inbox makes an inbox with messages, unless one lives, and with it a restricted inbox.
func (s Seeder) inbox(ctx context.Context) error {
	live, err := s.API.inboxes(ctx)
	if err != nil {
		return err
	}
	for _, i := range live {
		if i.Label == InboxLabel {
			return nil
		}
	}
	open, err := s.API.mint(ctx, map[string]any{"ttl": inboxLife, "label": InboxLabel, "visibility": inboxes.Shared})
	if err != nil {
		return err
	}
	restricted, err := s.API.mint(ctx, map[string]any{"ttl": inboxLife, "label": restrictedLabel, "visibility": inboxes.Shared, "allowed_senders": []string{"@example.com"}})
	if err != nil {
		return err
	}
	letters := inboxLetters()
	for _, l := range letters {
		if err := s.send(ctx, l, open.Address); err != nil {
			return err
		}
	}
	for _, l := range []letter{domainLetters()[0], letters[0]} { // one that is allowed, one that is not
		if err := s.send(ctx, l, restricted.Address); err != nil {
			return err
		}
	}
	return s.await(ctx, "the messages of the inboxes", func() (bool, error) {
		live, err := s.API.inboxes(ctx)
		processed := 0
		for _, i := range live {
			if i.ID == open.ID || i.ID == restricted.ID {
				processed += i.Messages + i.Dropped
			}
		}
		return processed == len(letters)+2, err
	})
}

// await calls look until it reports true. If the server takes longer than patience, await logs
// that and returns nil: the demo then starts with less mail.
func (s Seeder) await(ctx context.Context, what string, look func() (bool, error)) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	end := time.NewTimer(patience)
	defer end.Stop()
	for {
		done, err := look()
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		if done {
			return nil
		}
		select {
		case <-ticker.C:
		case <-end.C:
			s.Log.WarnContext(ctx, "the demo starts without all of its mail", "missing", what)
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
