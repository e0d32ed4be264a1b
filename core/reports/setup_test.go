package reports_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// now is the current time in all tests, a Thursday.
var now = time.Date(2026, 3, 12, 15, 30, 0, 0, time.UTC)

const (
	shopID   = "0b8f9f0e-6f0c-4b2e-9a55-1f7a2a4b6c01"
	nobodyID = "0b8f9f0e-6f0c-4b2e-9a55-1f7a2a4b6c02"
)

// namedChannels resolves names of channels in tests. Its only channel has the slug "shop"
// and the provider's name "shop-set".
type namedChannels struct{}

func (namedChannels) ChannelName(_ context.Context, _, id string) (string, error) {
	if id != shopID {
		return "", core.NotFound("channel")
	}
	return "shop-set", nil
}

func (namedChannels) ChannelSlug(_ context.Context, _, name string) (string, error) {
	if name != "shop-set" {
		return "", core.NotFound("channel")
	}
	return "shop", nil
}

func (namedChannels) ChannelNameOf(_ context.Context, _, slug string) (string, error) {
	if slug != "shop" && slug != shopID {
		return "", core.NotFound("channel")
	}
	return "shop-set", nil
}

// bundle has a Reports over a real database, its operations by name, and an organization.
type bundle struct {
	db      *storage.DB
	reports *reports.Reports
	ops     map[string]core.Operation
	org     core.Org
}

func setupOn(db *storage.DB) *bundle {
	b := &bundle{db: db, ops: map[string]core.Operation{}, org: core.Org{ID: core.NewID(), RetentionDays: 90}}
	b.reports = reports.New(reports.Config{Store: db.Reports(), Channels: namedChannels{}, Clock: func() time.Time { return now }})
	for _, op := range b.reports.Operations() {
		b.ops[op.Info().Name] = op
	}
	return b
}

func setup(t *testing.T) *bundle {
	t.Helper()
	return setupOn(storagetest.SQLite(t))
}

// record stores events and counts the new ones in the same transaction, as the product
// does.
func (b *bundle) record(ctx context.Context, events []messages.Event) error {
	return b.db.InTx(ctx, func(ctx context.Context) error {
		fresh, err := b.db.Messages().RecordEvents(ctx, b.org.ID, events, now)
		if err != nil {
			return err
		}
		return b.reports.ObserveEvents(ctx, b.org.ID, fresh)
	})
}

// call runs an operation on a surface (REST or agent) and decodes its result. It also
// checks the result against the operation's schema.
func call[Out any](ctx context.Context, b *bundle, s core.Surface, name string, in map[string]any) (Out, error) {
	var out Out
	if in == nil {
		in = map[string]any{}
	}
	raw, err := json.Marshal(in)
	if err != nil {
		return out, err
	}
	op := b.ops[name]
	typed, err := op.Decode(s, raw)
	if err != nil {
		return out, err
	}
	c := &core.Call{Principal: core.Principal{Org: b.org}, Surface: s, Now: now}
	result, err := op.Do(ctx, c, typed)
	if err != nil {
		return out, err
	}
	shown, err := json.Marshal(op.View(s, result))
	if err != nil {
		return out, err
	}
	if err := op.Output(s).Check(shown); err != nil {
		return out, fmt.Errorf("the answer breaks its own schema: %w", err)
	}
	return out, json.Unmarshal(shown, &out)
}

func wantRefusal(t *testing.T, err error, code core.Code) {
	t.Helper()
	if e, ok := errors.AsType[*core.Error](err); !ok || e.Code != code {
		t.Errorf("err = %v, want %s", err, code)
	}
}

// mail describes messages of one channel and template. The field became has the number of
// events of each type. Events of one type belong to different messages; the first event of
// every type belongs to the first message.
type mail struct {
	prefix            string
	at                time.Time
	channel, template string
	became            map[messages.EventType]int
}

func (m mail) events() []messages.Event {
	var all []messages.Event
	for kind, n := range m.became {
		for i := range n {
			e := messages.Event{
				ID: fmt.Sprintf("%s-%s-%d", m.prefix, kind, i), MessageID: fmt.Sprintf("%s-%d", m.prefix, i), Type: kind,
				OccurredAt: m.at, Recipient: fmt.Sprintf("p%d@Mail%d.example", i, i%3),
				Mail: messages.Mail{From: "Hello@Shop.example", SentAt: m.at, Channel: m.channel, Template: m.template},
			}
			if kind == messages.Bounce {
				e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: "General"}
			}
			all = append(all, e)
		}
	}
	return all
}
