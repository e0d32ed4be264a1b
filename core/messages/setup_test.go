package messages_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var now = time.Date(2026, 3, 20, 12, 0, 0, 0, time.UTC)

func timeBefore(d time.Duration) time.Time { return now.Add(-d) }

const (
	jane    = "Jane.Doe@Example.com"
	channel = "6d1f3c1e-8f0a-4c53-9d5a-0f1e2d3c4b5a"
)

// neighbours implements the interfaces that the package needs from other packages, with
// fixed results.
type neighbours struct {
	suppressed    *messages.SuppressedRecipient
	undeliverable *messages.UndeliverableRecipient
	err           error // of the account
	asked         []string
}

var errAccount = errors.New("the account does not answer")

func (n *neighbours) ChannelName(_ context.Context, _, id string) (string, error) {
	if id == channel {
		return "marketing", nil
	}
	return "", core.NotFound("channel")
}

// ChannelNameOf returns the provider's name of a channel. For one channel, that name
// differs from the slug.
func (n *neighbours) ChannelNameOf(_ context.Context, _, slug string) (string, error) {
	switch slug {
	case "marketing", channel:
		return "marketing", nil
	case "autumn-sale":
		return "Autumn_Sale", nil
	}
	return "", core.NotFound("channel")
}

func (n *neighbours) ChannelSlug(_ context.Context, _, name string) (string, error) {
	switch name {
	case "marketing":
		return "marketing", nil
	case "Autumn_Sale":
		return "autumn-sale", nil
	}
	return "", core.NotFound("channel")
}

func (n *neighbours) FindSuppressed(_ context.Context, _, email string) (*messages.SuppressedRecipient, error) {
	n.asked = append(n.asked, email)
	return n.suppressed, n.err
}

func (n *neighbours) Undeliverable(context.Context, string, string) (*messages.UndeliverableRecipient, error) {
	return n.undeliverable, nil
}

// desk runs the package's operations over a real database, as a caller of an organization
// with the given scopes.
type desk struct {
	t       *testing.T
	db      *storage.DB
	org     core.Org
	scopes  core.Scopes
	surface core.Surface
	*neighbours
	ops map[string]core.Operation
}

func setup(t *testing.T) *desk {
	t.Helper()
	d := &desk{
		t: t, db: storagetest.SQLite(t), neighbours: &neighbours{}, surface: core.REST, ops: map[string]core.Operation{},
		org: core.Org{ID: core.NewID(), RetentionDays: 90}, scopes: core.NewScopes("api.messages.view"),
	}
	all := messages.New(messages.Config{
		Store: d.db.Messages(), Transactor: d.db, Clock: func() time.Time { return now },
		Channels: d, Suppressions: d, Undeliverables: d,
	}).Operations()
	for _, op := range all {
		d.ops[op.Info().Name] = op
	}
	return d
}

func (d *desk) withoutMask() *desk {
	d.scopes = core.AllScopes()
	return d
}

// mail returns the description of a message that was sent to Jane with the template
// "welcome".
func mail(sent time.Time) messages.Mail {
	return messages.Mail{From: "shop@mail.example.com", To: []string{jane}, SentAt: sent, Subject: "For " + jane, Template: "welcome", Channel: "marketing"}
}

// newEvent returns an event of a message to Jane. more is its metadata, a JSON object or
// "".
func newEvent(id string, t messages.EventType, at time.Time, more string) messages.Event {
	e := messages.Event{ID: fmt.Sprintf("%s-%s-%d", id, t, at.Unix()), MessageID: id, Type: t, OccurredAt: at, Recipient: jane, Mail: mail(at)}
	if more != "" {
		e.Metadata = json.RawMessage(more)
	}
	return e
}

func (d *desk) record(events ...messages.Event) {
	d.t.Helper()
	for i := range events {
		events[i].Mail.SentAt = events[0].Mail.SentAt
	}
	if _, err := d.db.Messages().RecordEvents(d.t.Context(), d.org.ID, events, now); err != nil {
		d.t.Fatal(err)
	}
}

// run decodes the arguments, runs the operation and returns its result as JSON, as the
// surface (REST or agent) shows it. It also checks the result against the operation's
// schema.
func (d *desk) run(name, arguments string) (string, *core.Error) {
	d.t.Helper()
	op := d.ops[name]
	call := &core.Call{Principal: core.Principal{Org: d.org, Scopes: d.scopes}, Surface: d.surface, Now: now}
	defer call.Finish()
	in, err := op.Decode(d.surface, []byte(arguments))
	if err == nil {
		in, err = op.Prepare(d.t.Context(), call, in)
	}
	var out any
	if err == nil {
		out, err = op.Do(d.t.Context(), call, in)
	}
	if err != nil {
		return "", core.AsError(err)
	}
	shown, err := json.Marshal(op.View(d.surface, out))
	if err != nil {
		d.t.Fatal(err)
	}
	if err := op.Output(d.surface).Check(shown); err != nil {
		d.t.Errorf("%s answers what its schema does not allow: %v", name, err)
	}
	return string(shown), nil
}

func (d *desk) must(name, arguments string) string {
	d.t.Helper()
	answer, err := d.run(name, arguments)
	if err != nil {
		d.t.Fatalf("%s %s: %v", name, arguments, err)
	}
	return answer
}

func (d *desk) diagnose(id string) messages.Diagnosis {
	d.t.Helper()
	d.surface = core.Agent
	var got messages.Diagnosis
	if err := json.Unmarshal([]byte(d.must("messages_diagnose", `{"message_id":"`+id+`"}`)), &got); err != nil {
		d.t.Fatal(err)
	}
	return got
}

func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in %s", part, text)
		}
	}
}
