package whole

import (
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/senders"
)

// Each variable is one way to name an object of received mail. Its first function creates an
// object of the other organization and returns the name. Its second function returns an
// unused name.
var (
	inboxID = kind{"inbox id", func(t *testing.T, w world, _ int) string {
		return w.inbox(t, w.p.Other.OrgID).ID
	}, func(int) string { return core.NewID() }}
	pullTokenID = kind{"pull link id", func(t *testing.T, w world, _ int) string {
		return w.inbox(t, w.p.Other.OrgID).First.ID
	}, func(int) string { return core.NewID() }}
	claimID = kind{"verified sender id", func(t *testing.T, w world, n int) string {
		id := core.NewID()
		stored, err := w.p.DB.VerifiedSenders().InsertClaim(t.Context(), w.p.Other.OrgID, senders.Claim{
			ID: id, Owner: core.NewID(), Email: fmt.Sprintf("foreign.%03d@example.com", n), StartID: core.NewID(),
			CodeExpiresAt: w.p.Clock.Now().Add(senders.CodeLifetime), CreatedAt: w.p.Clock.Now(),
		})
		if w.must(t, err); !stored {
			t.Fatal("no claim")
		}
		return id
	}, func(int) string { return core.NewID() }}
	receivingDomain = kind{"receiving domain", func(t *testing.T, w world, n int) string {
		return w.receivingDomain(t, w.p.Other.OrgID, fmt.Sprintf("foreign-%03d.elsewhere.example", n)).Domain
	}, func(n int) string { return fmt.Sprintf("absent-%03d.elsewhere.example", n) }}
	receivingDomainID = kind{"receiving domain id", func(t *testing.T, w world, n int) string {
		return w.receivingDomain(t, w.p.Other.OrgID, fmt.Sprintf("foreign-id-%03d.elsewhere.example", n)).ID
	}, func(int) string { return core.NewID() }}
	receivingAddress = kind{"local part of a receiving domain", func(t *testing.T, w world, n int) string {
		d := w.receivingDomain(t, w.p.Other.OrgID, fmt.Sprintf("foreign-address-%03d.elsewhere.example", n))
		local := fmt.Sprintf("foreign-%03d", n)
		w.must(t, w.p.DB.ReceivingDomains().InsertAddress(t.Context(), w.p.Other.OrgID, d.ID, receiving.Address{
			ID: core.NewID(), LocalPart: local, Metadata: map[string]any{}, CreatedAt: w.p.Clock.Now(),
		}))
		return local
	}, func(n int) string { return fmt.Sprintf("absent-%03d", n) }}
	receivedMessage = kind{"received message", func(t *testing.T, w world, n int) string {
		d, now := w.receivingDomain(t, w.p.Other.OrgID, fmt.Sprintf("foreign-mail-%03d.elsewhere.example", n)), w.p.Clock.Now()
		m := inbound.Message{ID: core.NewID(), ReceivedAt: now}
		entry := receiving.Message{
			ID: core.NewID(), MessageID: m.ID, DomainID: d.ID, Domain: d.Domain, Recipients: []string{"help@" + d.Domain},
			Outcome: receiving.NoRoute, ReceivedAt: now, UpdatedAt: now,
		}
		added, err := w.p.DB.ReceivedDeliveries().Add(t.Context(), w.p.Other.OrgID, receiving.LogEntry{
			Message: entry, States: []receiving.State{{State: receiving.NoRoute, OccurredAt: now}}, Content: &m, ExpiresAt: now.Add(receiving.Kept),
		})
		if w.must(t, err); !added[0].New {
			t.Fatal("no received message")
		}
		return entry.ID
	}, func(int) string { return core.NewID() }}
)

// The arguments that calls need beside the tested one. Nothing is sent to publicWebhook,
// because only calls about domains that the caller does not have name it.
var (
	publicWebhook = map[string]any{"webhook_url": "https://hooks.example.net/mail"}
	anyCode       = map[string]any{"code": "123456"}
)

// inbox stores an inbox that all members of the organization see, with a pull link.
func (w world) inbox(t *testing.T, orgID string) inboxes.Inbox {
	t.Helper()
	id, now := core.NewID(), w.p.Clock.Now()
	i := inboxes.Inbox{
		ID: id, OrgID: orgID, LocalPart: id, Owner: core.NewID(), Caller: core.NewID(), Visibility: inboxes.Shared, CreatedAt: now, ExpiresAt: now.Add(time.Hour),
		First: inboxes.Token{ID: core.NewID(), InboxID: id, Hash: []byte(id), Prefix: "own", Label: "own", CreatedAt: now},
	}
	stored, err := w.p.DB.Inboxes().InsertInbox(t.Context(), i)
	if w.must(t, err); !stored {
		t.Fatal("no inbox")
	}
	return i
}

// receivingDomain stores a receiving domain without a webhook.
func (w world) receivingDomain(t *testing.T, orgID, name string) receiving.Domain {
	t.Helper()
	d := receiving.Domain{ID: core.NewID(), Domain: name, Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: w.p.Clock.Now()}
	w.must(t, w.p.DB.ReceivingDomains().InsertDomain(t.Context(), orgID, d))
	return d
}
