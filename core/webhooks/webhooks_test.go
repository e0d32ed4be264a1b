package webhooks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/webhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestSettingsAreChecked checks the refusals of new endpoints, and that none is stored.
func TestSettingsAreChecked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	valid := webhooks.Settings{URL: " https://example.com/hook ", Description: " CRM ", Types: []webhooks.EventType{webhooks.Clicked, webhooks.Sent, webhooks.Sent}, Enabled: true}
	for field, change := range map[string]func(*webhooks.Settings){
		"url":         func(s *webhooks.Settings) { s.URL = "http://example.com" },
		"description": func(s *webhooks.Settings) { s.Description = strings.Repeat("d", 201) },
		"events":      func(s *webhooks.Settings) { s.Types = []webhooks.EventType{"deleted"} },
		"events ":     func(s *webhooks.Settings) { s.Types = nil },
	} {
		s := valid
		change(&s)
		_, _, err := w.hooks.Create(t.Context(), operator, w.org, core.NewID(), s)
		if e := core.AsError(err); err == nil || e.Code != core.CodeValidationFailed || e.Fields[0].Field != strings.TrimSpace(field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	id := core.NewID()
	e, secret, err := w.hooks.Create(t.Context(), operator, w.org, id, valid)
	if err != nil || e.URL != "https://example.com/hook" || e.Description != "CRM" || len(e.Types) != 2 || e.Types[0] != webhooks.Sent || !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("%+v, %v", e, err)
	}
	if _, _, err := w.hooks.Create(t.Context(), operator, w.org, id, valid); !core.IsConflict(err) {
		t.Errorf("the same id again: %v", err)
	}
	for range webhooks.MaxEndpoints - 1 {
		w.create(webhooks.Sent)
	}
	if _, _, err := w.hooks.Create(t.Context(), operator, w.org, core.NewID(), valid); !core.IsConflict(err) {
		t.Errorf("one endpoint too many: %v", err)
	}
	all, err := w.db.Webhooks().Endpoints(t.Context(), w.org)
	if err != nil || len(all) != webhooks.MaxEndpoints {
		t.Errorf("%d endpoints, %v", len(all), err)
	}
}

// TestTestEvent sends a test event. It must be marked as a test, and be refused for a
// disabled endpoint.
func TestTestEvent(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		e, _ := w.create(webhooks.Opened)
		d, err := w.hooks.SendTest(t.Context(), operator, w.org, e.ID)
		w.must(err)
		if n := w.sendDue(); n != 1 || !strings.Contains(string(w.receiver.all()[0].Body), `"type":"opened"`) || !strings.Contains(string(w.receiver.all()[0].Body), `"test":true`) {
			t.Errorf("%d requests: %s", n, w.receiver.all()[0].Body)
		}
		if got := w.deliveries(e.ID); len(got) != 1 || got[0].ID != d.ID || !got[0].Test || got[0].State != webhooks.Accepted {
			t.Errorf("%+v", got)
		}
		w.must(second(w.hooks.Edit(t.Context(), operator, w.org, e.ID, webhooks.Settings{URL: e.URL, Types: e.Types})))
		if _, err := w.hooks.SendTest(t.Context(), operator, w.org, e.ID); !core.IsConflict(err) {
			t.Errorf("a test event for a disabled endpoint: %v", err)
		}
		w.observe(w.event(messages.Open))
		if len(w.deliveries(e.ID)) != 1 {
			t.Error("a disabled endpoint gets deliveries")
		}
	})
}

// TestPurge checks that deliveries are deleted after 30 days, and those of a deleted
// endpoint with the endpoint.
func TestPurge(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		kept, _ := w.create(webhooks.Bounced)
		gone, _ := w.create(webhooks.Bounced)
		w.observe(w.event(messages.Bounce))
		w.advance(time.Hour)
		w.observe(w.event(messages.Bounce))
		w.must(w.hooks.Delete(t.Context(), operator, w.org, gone.ID))
		if n := w.sendDue(); n != 2 {
			t.Errorf("%d requests, want those of the endpoint that is not deleted", n)
		}
		purge := func() {
			t.Helper()
			w.must(webhooks.PurgeWorker(db.Webhooks(), w.orgs, w.clock).Work(t.Context(), webhooks.PurgeArgs{}))
		}
		purge()
		if a, b := len(w.deliveries(kept.ID)), len(w.deliveries(gone.ID)); a != 2 || b != 0 {
			t.Errorf("%d and %d deliveries, want 2 and 0", a, b)
		}
		w.advance(webhooks.Kept - 30*time.Minute)
		purge()
		if n := len(w.deliveries(kept.ID)); n != 1 {
			t.Errorf("%d deliveries after 30 days, want 1", n)
		}
		if err := w.hooks.Delete(t.Context(), operator, w.org, gone.ID); !core.IsNotFound(err) {
			t.Errorf("deleted twice: %v", err)
		}
	})
}

// TestChangesAreAudited makes every change. The audit log must have each, without a secret
// and without a URL.
func TestChangesAreAudited(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	e, secret := w.create(webhooks.Bounced)
	ctx := t.Context()
	w.must(second(w.hooks.Edit(ctx, operator, w.org, e.ID, webhooks.Settings{URL: e.URL, Types: e.Types, Enabled: true})))
	_, rotated, err := w.hooks.Rotate(ctx, operator, w.org, e.ID)
	w.must(err)
	d, err := w.hooks.SendTest(ctx, operator, w.org, e.ID)
	w.must(err)
	w.must(w.hooks.Resend(ctx, operator, w.org, e.ID, d.ID))
	w.must(w.hooks.Delete(ctx, operator, w.org, e.ID))
	lines, err := w.db.Audit().FindAudit(ctx, w.org, access.AuditFilter{SubjectID: e.ID, Limit: 10})
	w.must(err)
	actions := map[string]bool{}
	for _, line := range lines {
		actions[line.Action] = true
		for _, hidden := range []string{secret, rotated, e.URL} {
			if strings.Contains(line.Detail, hidden) {
				t.Errorf("%s contains a secret or a URL: %s", line.Action, line.Detail)
			}
		}
	}
	for _, want := range []string{"webhook.created", "webhook.edited", "webhook.secret_rotated", "webhook.tested", "webhook.resent", "webhook.deleted"} {
		if !actions[want] || len(actions) != 6 {
			t.Errorf("actions %v, want %s", actions, want)
		}
	}
}

// TestOtherOrganizationsAreNotFound makes every change as another organization.
func TestOtherOrganizationsAreNotFound(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		e, _ := w.create(webhooks.Bounced)
		w.observe(w.event(messages.Bounce))
		d, ctx, other := w.deliveries(e.ID)[0], t.Context(), core.NewID()
		before := w.endpoint(e.ID)
		for name, err := range map[string]error{
			"edit":   second(w.hooks.Edit(ctx, operator, other, e.ID, webhooks.Settings{URL: "https://thief.example.com", Types: e.Types})),
			"delete": w.hooks.Delete(ctx, operator, other, e.ID),
			"test":   second(w.hooks.SendTest(ctx, operator, other, e.ID)),
			"resend": w.hooks.Resend(ctx, operator, other, e.ID, d.ID),
		} {
			if !core.IsNotFound(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, _, err := w.hooks.Rotate(ctx, operator, other, e.ID); !core.IsNotFound(err) {
			t.Errorf("rotate: %v", err)
		}
		if after := w.endpoint(e.ID); after.URL != before.URL || string(after.Secret) != string(before.Secret) || !after.Enabled {
			t.Errorf("changed by another organization: %+v", after)
		}
	})
}
