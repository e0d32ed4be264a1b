package consent_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/sending"
)

// stated is when callers stated consent in these tests.
var stated = time.Date(2026, 3, 12, 15, 30, 0, 0, time.UTC)

// TestPendingConsentIsMerged checks that a stated choice replaces the account's, unless the
// account has a later opt-out, and that the account decides about everything else.
func TestPendingConsentIsMerged(t *testing.T) {
	t.Parallel()
	isRemoved := false
	states := stating("news", sending.OptIn)
	states.UnsubscribeAll = &isRemoved
	var none *consent.Pending
	pending := none.Add(states, "", stated)
	stored := sending.Contact{Email: "ada@x.example", Preferences: choices{"news": sending.OptIn, "offers": sending.OptIn}}
	optedOut := choices{"news": sending.OptOut, "offers": sending.OptOut}
	for name, c := range map[string]struct {
		held, want sending.Contact
	}{
		"earlier opt-outs":         {sending.Contact{UnsubscribeAll: true, Preferences: optedOut}, sending.Contact{Preferences: choices{"news": sending.OptIn, "offers": sending.OptOut}}},
		"opt-outs before":          {sending.Contact{UnsubscribeAll: true, Preferences: optedOut, UpdatedAt: stated}, sending.Contact{Preferences: choices{"news": sending.OptIn, "offers": sending.OptOut}}},
		"opt-outs after":           {sending.Contact{UnsubscribeAll: true, Preferences: optedOut, UpdatedAt: stated.Add(time.Second)}, sending.Contact{UnsubscribeAll: true, Preferences: optedOut}},
		"a choice that is unknown": {sending.Contact{Preferences: choices{}, UpdatedAt: stated.Add(time.Second)}, sending.Contact{Preferences: choices{"news": sending.OptIn}}},
	} {
		c.want.Email, c.want.UpdatedAt = stored.Email, c.held.UpdatedAt
		if diff := cmp.Diff(c.want, pending.Merge(&c.held, stored)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if diff := cmp.Diff(stored, pending.Merge(nil, stored)); diff != "" {
		t.Errorf("the account does not have the address (-want +got):\n%s", diff)
	}
}

// TestPendingConsentIsCopied checks that Add and AddOptOuts return copies and leave the
// earlier pending consent as it is.
func TestPendingConsentIsCopied(t *testing.T) {
	t.Parallel()
	at, later := stated.UnixMicro(), stated.Add(time.Minute)
	var none *consent.Pending
	first := none.Add(stating("news", sending.OptIn), "old@x.example", stated)
	second := first.Add(stating("offers", sending.OptOut), "OLD@x.example", later)
	third := second.AddOptOuts(sending.Contact{UnsubscribeAll: true, Preferences: choices{"news": sending.OptOut, "in": sending.OptIn}}, later)
	for i, c := range []struct{ got, want *consent.Pending }{
		{first, &consent.Pending{Topics: map[string]int64{"news": at}, OldEmails: []string{"old@x.example"}}},
		{second, &consent.Pending{Topics: map[string]int64{"news": at, "offers": later.UnixMicro()}, OldEmails: []string{"old@x.example"}}},
		{third, &consent.Pending{UnsubscribeAll: later.UnixMicro(), Topics: map[string]int64{"news": later.UnixMicro(), "offers": later.UnixMicro()}, OldEmails: []string{"old@x.example"}}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("step %d (-want +got):\n%s", i+1, diff)
		}
	}
}

// TestChangesNameTheirSource checks the sources of changes: the choices of a statement are
// its caller's, every other difference is the account's, and a choice that stays as it is
// keeps its time.
func TestChangesNameTheirSource(t *testing.T) {
	t.Parallel()
	recorded := consent.Changes{Topics: map[string]consent.Change{"kept": consent.ChangeAt(stated.Add(-time.Hour), "key-1/"), "gone": consent.ChangeAt(stated, "key-1/")}}
	before := sending.Contact{Preferences: choices{"kept": sending.OptIn, "gone": sending.OptIn, "found": sending.OptIn, "unrecorded": sending.OptOut}}
	after := sending.Contact{UnsubscribeAll: true, Preferences: choices{"kept": sending.OptIn, "found": sending.OptOut, "news": sending.OptIn, "unrecorded": sending.OptOut}}
	now, updated := stated.Add(time.Hour), stated.Add(time.Minute)
	byCaller, byAccount := consent.ChangeAt(now, "key-2/"), consent.ChangeAt(updated, consent.ByAccount)
	want := consent.Changes{UnsubscribeAll: &byAccount, Topics: map[string]consent.Change{"kept": recorded.Topics["kept"], "found": byAccount, "news": byCaller}}
	if diff := cmp.Diff(want, recorded.ByStatement(before, after, stating("news", sending.OptIn), byCaller, updated)); diff != "" {
		t.Errorf("by a statement (-want +got):\n%s", diff)
	}
	want.Topics["news"] = byAccount
	after.UpdatedAt = updated
	if diff := cmp.Diff(want, recorded.AtAccount(before, after, now)); diff != "" {
		t.Errorf("at the account (-want +got):\n%s", diff)
	}
	for name, unknown := range map[string]time.Time{"no time": {}, "a time in the future": now.Add(time.Hour)} {
		after.UpdatedAt = unknown
		if got := (consent.Changes{}).AtAccount(sending.Contact{}, after, now).UnsubscribeAll; *got != consent.ChangeAt(now, consent.ByAccount) {
			t.Errorf("%s: %+v", name, *got)
		}
	}
}
