package inboxes_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// refusedMint calls inboxes_create, which must be refused for the reason until after has
// passed.
func (w *world) refusedMint(p core.Principal, arguments string, reason inboxes.Reason, after time.Duration) {
	w.t.Helper()
	e := w.refused(core.CodeRateLimited, p, "inboxes_create", arguments)
	if e.Extra["reason"] != string(reason) || e.RetryAfter != after {
		w.t.Errorf("%s: %v after %v, want %s after %v", arguments, e.Extra["reason"], e.RetryAfter, reason, after)
	}
}

// TestCaps fills the caps of a credential and of the organization.
func TestCaps(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verified = []string{"shop.example"}
		bob := member(w.ann.Org.ID, "bob")
		first := w.mint(`{"ttl": 100}`)
		for range 4 {
			w.mint(`{"ttl": 200}`)
		}
		w.advance(time.Second)
		w.refusedMint(w.ann, `{}`, inboxes.CapUser, 99*time.Second)
		as[inboxes.MintedView](w, bob, "inboxes_create", `{}`)
		as[core.Deleted](w, w.ann, "inboxes_delete", `{"id": "`+first.ID+`"}`)
		w.mint(`{}`)
		for range 19 { // restricted ones count only for the organization
			w.mint(`{"allowed_senders": ["@shop.example"], "ttl": 300}`)
		}
		w.refusedMint(bob, `{"allowed_senders": ["@shop.example"]}`, inboxes.CapOrg, 199*time.Second)
		w.refusedMint(bob, `{}`, inboxes.CapOrg, 199*time.Second)
		w.advance(199 * time.Second)
		as[inboxes.MintedView](w, bob, "inboxes_create", `{}`)
		eve := member(core.NewID(), "eve")
		as[inboxes.MintedView](w, eve, "inboxes_create", `{}`)
	})
}

// TestQuotas uses up the quotas of an hour and of a day, with and without an own sending
// account. Deleted inboxes count too.
func TestQuotas(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verified = []string{"shop.example"}
		spend := func(n int) {
			for range n {
				m := w.mint(`{}`)
				as[core.Deleted](w, w.ann, "inboxes_delete", `{"id": "`+m.ID+`"}`)
			}
		}
		spend(1)
		w.advance(10 * time.Minute)
		spend(29)
		w.refusedMint(w.ann, `{}`, inboxes.QuotaHourly, 50*time.Minute)
		w.mint(`{"allowed_senders": ["@shop.example"]}`)
		w.advance(50 * time.Minute)
		spend(1)
		w.refusedMint(w.ann, `{}`, inboxes.QuotaHourly, 10*time.Minute)
		for range 5 { // 31 are spent
			w.advance(time.Hour)
			spend(30)
		}
		w.advance(time.Hour)
		spend(19)
		w.refusedMint(w.ann, `{}`, inboxes.QuotaDaily, 17*time.Hour) // the first was seven hours ago
		w.connected = false
		w.refusedMint(w.ann, `{}`, inboxes.QuotaDaily, 24*time.Hour)
		w.advance(24 * time.Hour)
		spend(3)
		w.refusedMint(w.ann, `{}`, inboxes.QuotaDaily, 24*time.Hour)
	})
}

// fill stores inboxes of Ann without the limits on new ones, in one transaction. change sets the
// fields of the n-th.
func (w *world) fill(n int, change func(n int, i *inboxes.Inbox)) {
	w.t.Helper()
	w.must(w.db.InTx(w.t.Context(), func(ctx context.Context) error {
		for n := range n {
			i := inboxes.Inbox{
				ID: core.NewID(), OrgID: w.ann.Org.ID, Owner: w.ann.Owner(), Caller: w.ann.Caller(), Visibility: inboxes.Private, CreatedAt: w.clock(), ExpiresAt: w.clock().Add(time.Hour),
			}
			i.LocalPart = i.ID
			i.First = inboxes.Token{ID: core.NewID(), InboxID: i.ID, Hash: []byte(i.ID), Prefix: "filled12", Label: "default", CreatedAt: i.CreatedAt}
			change(n, &i)
			if stored, err := w.db.Inboxes().InsertInbox(ctx, i); err != nil || !stored {
				return fmt.Errorf("inbox %d: %v, %w", n, stored, err)
			}
		}
		return nil
	}))
}

// TestPlatformCaps counts live inboxes by account_ref.
func TestPlatformCaps(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.ann.Org.PlatformMode, w.connected = true, false
		w.fill(494, func(n int, i *inboxes.Inbox) { i.AccountRef = fmt.Sprint("a", 1+n/5) })
		for range 5 {
			w.mint(`{"account_ref": "a0", "ttl": 3600}`)
		}
		w.refusedMint(w.ann, `{"account_ref": "a0"}`, inboxes.CapAccountRef, time.Hour)
		w.mint(`{"account_ref": "A0", "ttl": 3600}`)
		w.refusedMint(w.ann, `{"account_ref": "b", "allowed_senders": ["@x.example"]}`, inboxes.CapOrg, time.Hour)
	})
}

// TestPlatformQuota uses up the quota of a day in platform mode. There is none of an hour.
func TestPlatformQuota(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.ann.Org.PlatformMode = true
		w.fill(1998, func(_ int, i *inboxes.Inbox) { i.ExpiresAt = i.CreatedAt.Add(time.Minute) })
		w.advance(time.Hour)
		w.mint(`{"account_ref": "a"}`)
		w.mint(`{"account_ref": "a"}`)
		w.refusedMint(w.ann, `{"account_ref": "fresh"}`, inboxes.QuotaDaily, 23*time.Hour)
		w.mint(`{"account_ref": "fresh", "allowed_senders": ["@x.example"]}`)
		w.advance(23 * time.Hour)
		w.mint(`{"account_ref": "fresh"}`)
	})
}

// TestDisabled refuses new inboxes of a disabled organization, without a time.
func TestDisabled(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		set := inboxes.Switch{Store: db.Inboxes(), Audit: db.Audit(), Clock: w.clock}.SetDisabled
		for range 2 { // the second changes nothing
			w.must(set(t.Context(), access.System(), w.ann.Org.ID, true))
		}
		w.refusedMint(w.ann, `{}`, inboxes.OrgDisabled, 0)
		w.deliver(m.Address, w.message("m", "shop@example.com"))
		if got := w.poll(m.ID, "0"); len(got.Messages) != 1 {
			t.Error("a live inbox ended")
		}
		w.must(set(t.Context(), access.System(), w.ann.Org.ID, false))
		w.mint(`{}`)
		for action, want := range map[string]int{"inboxes.disabled": 1, "inboxes.enabled": 1} {
			events, err := db.Audit().FindAudit(t.Context(), w.ann.Org.ID, access.AuditFilter{Action: action, Limit: 10})
			if err != nil || len(events) != want {
				t.Errorf("%d events %s, %v", len(events), action, err)
			}
		}
	})
}

// TestConcurrentMints mints more inboxes at once than the cap of a credential.
func TestConcurrentMints(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		var calls sync.WaitGroup
		minted := make([]bool, 12)
		for n := range minted {
			calls.Go(func() {
				_, err := w.call(w.ann, "inboxes_create", `{}`)
				minted[n] = err == nil
				if e := core.AsError(err); err != nil && e.Code != core.CodeRateLimited {
					t.Error(err)
				}
			})
		}
		calls.Wait()
		n := 0
		for _, ok := range minted {
			if ok {
				n++
			}
		}
		if n != 5 {
			t.Errorf("%d inboxes were minted, want 5", n)
		}
	})
}
