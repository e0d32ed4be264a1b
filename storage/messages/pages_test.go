package messages_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
	messagesstore "github.com/mailhelm/mailhelm/storage/messages"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

var (
	drawnStatus    = rapid.SampledFrom([]messages.EventType{messages.Send, messages.Delivery, messages.Bounce, messages.Open, messages.Click})
	drawnChannel   = rapid.SampledFrom([]string{"", "marketing", "default"})
	drawnDomain    = rapid.SampledFrom([]string{"shop.example", "mail.example"})
	drawnTemplate  = rapid.SampledFrom([]string{"", "welcome", "offer"})
	drawnRecipient = rapid.SampledFrom([]string{"Ada@x.example", "ben@x.example"})
	// drawnInstant draws one of 31 times over four months, so that many messages have equal
	// times.
	drawnInstant = rapid.Custom(func(t *rapid.T) time.Time {
		return sentAt.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "instant")) * 4 * 24 * time.Hour)
	})
)

// drawEvents draws random events of up to 51 messages. Events of one message may contradict
// each other about its sender, recipient or time.
func drawEvents(t *rapid.T) []messages.Event {
	all := make([]messages.Event, rapid.IntRange(1, 80).Draw(t, "events"))
	for i := range all {
		at, recipient := drawnInstant.Draw(t, "sent"), drawnRecipient.Draw(t, "to")
		all[i] = messages.Event{
			ID: fmt.Sprintf("e-%d", i), MessageID: fmt.Sprintf("m-%d", rapid.IntRange(0, 50).Draw(t, "message")), Type: drawnStatus.Draw(t, "type"),
			OccurredAt: at, Recipient: recipient,
			Mail: messages.Mail{
				From: "me@" + drawnDomain.Draw(t, "domain"), To: []string{recipient}, SentAt: at,
				Channel: drawnChannel.Draw(t, "channel"), Template: drawnTemplate.Draw(t, "template"),
			},
		}
	}
	return all
}

func drawFilter(t *rapid.T) messages.Filter {
	optional := func(name string, g *rapid.Generator[string]) string {
		if rapid.Bool().Draw(t, "by "+name) {
			return g.Draw(t, name)
		}
		return ""
	}
	f := messages.Filter{Limit: rapid.IntRange(1, 20).Draw(t, "limit")}
	f.From, f.To = drawnInstant.Draw(t, "from"), drawnInstant.Draw(t, "until").Add(time.Microsecond)
	f.Channel, f.Template = optional("channel", drawnChannel), optional("template", drawnTemplate)
	f.Identity, f.Recipient = optional("identity", drawnDomain), optional("recipient", drawnRecipient)
	if rapid.Bool().Draw(t, "by status") {
		f.Status = drawnStatus.Draw(t, "status")
	}
	if rapid.Bool().Draw(t, "goes on") {
		f.After = &core.After{At: drawnInstant.Draw(t, "after"), ID: fmt.Sprintf("m-%d", rapid.IntRange(0, 50).Draw(t, "after message"))}
	}
	return f
}

// storedMessage is a row of messages with the columns that filters compare, and its
// recipients.
type storedMessage struct {
	ID       string             `db:"id"`
	SentAt   int64              `db:"sent_at"`
	Channel  string             `db:"channel"`
	Identity string             `db:"identity"`
	Template string             `db:"template"`
	Status   messages.EventType `db:"status"`
	To       []string           `db:"-"`
}

// everyMessage reads all messages of the organization with their recipients.
func everyMessage(ctx context.Context, db *storage.DB, orgID string) ([]storedMessage, error) {
	reader := sqlx.NewDb(db.Reader(), "")
	var all []storedMessage
	if err := reader.SelectContext(ctx, &all, `SELECT id, sent_at, channel, identity, template, status FROM messages WHERE org_id = $1`, orgID); err != nil {
		return nil, err
	}
	for i := range all {
		err := reader.SelectContext(ctx, &all[i].To, `SELECT recipient FROM message_recipients WHERE org_id = $1 AND message_id = $2`, orgID, all[i].ID)
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fits reports whether the message matches the filter. It ignores the cursor.
func (m storedMessage) fits(f messages.Filter) bool {
	either := func(wanted, is string) bool { return wanted == "" || wanted == is }
	return m.SentAt >= f.From.UnixMicro() && m.SentAt < f.To.UnixMicro() &&
		either(f.Channel, m.Channel) && either(f.Identity, m.Identity) && either(f.Template, m.Template) && either(string(f.Status), string(m.Status)) &&
		(f.Recipient == "" || slices.Contains(m.To, f.Recipient))
}

// pageOf returns what the store must return for the filter: the ids of the messages on the
// page, and the number of all matching messages, at most f.Limit.
func pageOf(all []storedMessage, f messages.Filter) ([]string, int) {
	slices.SortFunc(all, func(a, b storedMessage) int {
		return cmp.Or(cmp.Compare(b.SentAt, a.SentAt), cmp.Compare(b.ID, a.ID))
	})
	ids, counted := []string{}, 0
	for _, m := range all {
		if !m.fits(f) {
			continue
		}
		counted++
		behind := f.After == nil || cmp.Or(cmp.Compare(m.SentAt, f.After.At.UnixMicro()), cmp.Compare(m.ID, f.After.ID)) < 0
		if behind && len(ids) < f.Limit {
			ids = append(ids, m.ID)
		}
	}
	return ids, min(counted, f.Limit)
}

func idsOf(page []messages.Message) []string {
	ids := make([]string, len(page))
	for i, m := range page {
		ids[i] = m.ID
	}
	return ids
}

// TestPagesOfMessagesAreThoseOfAFullScan checks that pages and counts with random filters
// equal those computed from all messages in memory.
func TestPagesOfMessagesAreThoseOfAFullScan(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		rapid.Check(t, func(r *rapid.T) {
			ctx, orgID := t.Context(), core.NewID()
			events := drawEvents(r)
			for batch := range slices.Chunk(events, rapid.IntRange(1, len(events)).Draw(r, "batch")) {
				if _, err := db.Messages().RecordEvents(ctx, orgID, batch, sentAt); err != nil {
					r.Fatal(err)
				}
			}
			all, err := everyMessage(ctx, db, orgID)
			if err != nil {
				r.Fatal(err)
			}
			for range 8 {
				f := drawFilter(r)
				want, counted := pageOf(all, f)
				page, err := db.Messages().Messages(ctx, orgID, f)
				if diff := gocmp.Diff(want, idsOf(page)); diff != "" || err != nil {
					r.Fatalf("%+v: %v (-want +got):\n%s", f, err, diff)
				}
				if n, err := db.Messages().CountMessages(ctx, orgID, f); n != counted || err != nil {
					r.Fatalf("%+v: counted %d, %v, want %d", f, n, err, counted)
				}
			}
		})
	})
}

// TestPageOfMessagesOfManyKinds checks pages and counts for a filter that matches more than
// maxKinds kinds (combinations of channel, identity, template and status). The store then
// reads an index on one column.
func TestPageOfMessagesOfManyKinds(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org, all := t.Context(), core.NewID(), sentMail(2*messagesstore.MaxKinds+10)
		for i := range all {
			all[i].Mail.Template, all[i].Mail.Channel = fmt.Sprintf("template-%d", i), "default"
		}
		if _, err := db.Messages().RecordEvents(ctx, org, all, sentAt); err != nil {
			t.Fatal(err)
		}
		f := messages.Filter{Window: core.Window{To: sentAt.AddDate(0, 1, 0)}, Channel: "default", Identity: "mail1.example.com", Limit: 500}
		want := idsThatFit(all, f)
		if got, err := walkMessages(ctx, db, org, f); err != nil || !slices.Equal(want, got) || len(got) <= messagesstore.MaxKinds {
			t.Errorf("%d messages, %v, want %d", len(got), err, len(want))
		}
		f.Limit = len(all)
		if n, err := db.Messages().CountMessages(ctx, org, f); err != nil || n != len(want) {
			t.Errorf("counted %d, %v, want %d", n, err, len(want))
		}
	})
}

// TestPurgeForgetsKinds checks that the purge deletes a kind, a combination of channel,
// identity, template and status, once no message has it.
func TestPurgeForgetsKinds(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org := t.Context(), core.NewID()
		old := sentMail(8)
		recent := sentMail(1)[0]
		recent.ID, recent.MessageID, recent.Mail.SentAt = "recent", "recent", sentAt.AddDate(0, 6, 0)
		if _, err := db.Messages().RecordEvents(ctx, org, append(old, recent), sentAt); err != nil {
			t.Fatal(err)
		}
		for purged := 1; purged > 0; {
			var err error
			if purged, err = db.Messages().Purge(ctx, org, sentAt.AddDate(0, 5, 0), 5); err != nil {
				t.Fatal(err)
			}
		}
		kinds, err := texts(ctx, db, `SELECT channel, identity, template, status FROM message_kinds WHERE org_id = $1`, org)
		if err != nil || len(kinds) != 1 {
			t.Errorf("%v, %v", kinds, err)
		}
	})
}
