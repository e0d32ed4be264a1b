package suppression_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bundle has a Suppression over a real database and a simulated account.
type bundle struct {
	t       *testing.T
	db      *storage.DB
	account *simulator.Simulator
	org     string
	s       *suppression.Suppression

	mu     sync.Mutex
	now    time.Time
	events int
}

func (b *bundle) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(time.Millisecond) // so that every change has a different time
	return b.now
}

func setup(t *testing.T, db *storage.DB) *bundle {
	t.Helper()
	b := &bundle{t: t, db: db, org: core.NewID(), now: noon}
	account := simulatortest.Open(t, simulator.Options{Clock: b.clock})
	b.account = account
	b.must(db.Orgs().InsertOrg(t.Context(), core.Org{ID: b.org, Name: "Org", Slug: b.org, Tier: "demo", RetentionDays: 365}))
	b.must(account.Seed(t.Context(), b.org, simulator.Setup{Suppressed: []sending.Suppressed{
		{Email: "Blocked@Example.com", Reason: sending.SuppressedByBounce, At: noon.Add(-time.Hour)},
	}}))
	b.s = suppression.New(suppression.Config{
		Account: account, Store: db.Suppression(), RuleStore: db.SuppressionRules(), Transactor: db, Orgs: db.Orgs().OrgIDs, Clock: b.clock, Log: slog.New(slog.DiscardHandler),
	})
	return b
}

func (b *bundle) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// event returns an event of this kind about an address. Day 0 is 60 days before noon, day
// 60 is noon.
func (b *bundle) event(recipient string, kind messages.EventType, bounce string, day int) messages.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events++
	e := messages.Event{
		ID: fmt.Sprint("event-", b.events), MessageID: fmt.Sprint("message-", b.events), Type: kind, Recipient: recipient,
		OccurredAt: noon.AddDate(0, 0, day-60),
		Mail:       messages.Mail{From: "us@example.com", To: []string{recipient}, SentAt: noon.AddDate(0, 0, day-60)},
	}
	if kind == messages.Bounce {
		e.Bounced = &messages.BounceKind{Type: bounce, SubType: "General"}
	}
	return e
}

// record stores events and updates the entries of their recipients, in one transaction.
func (b *bundle) record(ctx context.Context, events ...messages.Event) error {
	return b.db.InTx(ctx, func(ctx context.Context) error {
		fresh, err := b.db.Messages().RecordEvents(ctx, b.org, events, noon)
		if err != nil {
			return err
		}
		return b.s.ObserveEvents(ctx, b.org, fresh)
	})
}

// call runs an operation and returns its result on a surface (REST or agent) in two forms:
// first decoded from JSON, then as a Go value. It also checks the result against the
// operation's schema.
func (b *bundle) call(surface core.Surface, name, arguments string) (map[string]any, any, error) {
	b.t.Helper()
	for _, op := range b.s.Operations() {
		if op.Info().Name != name {
			continue
		}
		c := &core.Call{Principal: core.Principal{Org: core.Org{ID: b.org}}, Surface: surface, Now: noon}
		in, err := op.Decode(surface, []byte(arguments))
		if err == nil {
			in, err = op.Prepare(b.t.Context(), c, in)
		}
		if err != nil {
			return nil, nil, err
		}
		out, err := op.Do(b.t.Context(), c, in)
		if err != nil {
			return nil, nil, err
		}
		view := op.View(surface, out)
		raw, err := json.Marshal(view)
		b.must(err)
		if err := op.Output(surface).Check(raw); err != nil {
			b.t.Errorf("%s does not fit its own schema: %v\n%s", name, err, raw)
		}
		var shown map[string]any
		b.must(json.Unmarshal(raw, &shown))
		return shown, view, nil
	}
	b.t.Fatalf("no operation is named %s", name)
	return nil, nil, nil
}

func (b *bundle) want(surface core.Surface, name, arguments string) map[string]any {
	b.t.Helper()
	shown, _, err := b.call(surface, name, arguments)
	b.must(err)
	return shown
}

func (b *bundle) status(email string) string {
	b.t.Helper()
	u, err := b.s.Undeliverable(b.t.Context(), b.org, email)
	b.must(err)
	if u == nil {
		return ""
	}
	return string(u.Status) + " " + string(u.Reason)
}

func TestEventsListAddresses(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		test := b.event("trial@example.com", messages.Complaint, "", 1)
		test.Mail.Test = true
		repeated := b.event("listed@example.com", messages.Complaint, "", 1)
		// the account's suppression list caused this event; the recipient did not complain
		// again
		repeated.ComplaintSubType = "OnAccountSuppressionList"
		b.must(b.record(t.Context(),
			repeated,
			b.event("Gone@Example.com", messages.Bounce, "Permanent", 1),
			b.event("angry@example.com", messages.Complaint, "", 1),
			b.event("full@example.com", messages.Bounce, "Transient", 1),
			b.event("full@example.com", messages.Bounce, "Transient", 2),
			b.event("fine@example.com", messages.Delivery, "", 1),
			test,
		))
		for email, want := range map[string]string{
			"gone@example.com": "listed permanent_bounce", "GONE@EXAMPLE.COM": "listed permanent_bounce",
			"angry@example.com": "listed complaint", "full@example.com": "", "fine@example.com": "", "trial@example.com": "",
			"listed@example.com": "",
		} {
			if got := b.status(email); got != want {
				t.Errorf("%s: %q, want %q", email, got, want)
			}
		}
		if stored, err := b.db.Messages().MessageEvents(t.Context(), b.org, repeated.MessageID); err != nil || len(stored) != 1 ||
			stored[0].ComplaintSubType != repeated.ComplaintSubType || stored[0].Bounced != nil {
			t.Errorf("a complaint that repeats the account's list comes back as %+v, %v", stored, err)
		}
		b.must(b.record(t.Context(), b.event("Full@example.com", messages.Bounce, "Transient", 3)))
		if got := b.status("full@example.com"); got != "listed repeated_transient" {
			t.Errorf("the third: %q", got)
		}
		checked := b.want(core.Agent, "suppressions_check_address", `{"email":"GONE@example.com"}`)
		record, _ := checked["undeliverable"].(map[string]any)
		if checked["suppressed"] != false || record["email"] != "Gone@Example.com" || record["event_count"] != 1.0 {
			t.Errorf("%v", checked)
		}
		neither := b.want(core.Agent, "suppressions_check_address", `{"email":"nobody@example.com"}`)
		if diff := cmp.Diff(map[string]any{"suppressed": false, "reason": nil, "suppressed_at": nil, "undeliverable": nil}, neither); diff != "" {
			t.Errorf("on neither list:\n%s", diff)
		}
		blocked := b.want(core.REST, "suppressions_get", `{"email":"blocked@example.com"}`)
		if blocked["email"] != "Blocked@Example.com" || blocked["source"] != "ses_event" {
			t.Errorf("%v", blocked)
		}
		if _, _, err := b.call(core.REST, "suppressions_get", `{"email":"nobody@example.com"}`); core.AsError(err).Code != core.CodeNotFound {
			t.Errorf("nobody: %v", err)
		}
	})
}

// TestEventsAtOnceAreJudgedTogether checks concurrent transactions that each store one
// event about an address. One event alone does not list the address, but all of them
// together must.
func TestEventsAtOnceAreJudgedTogether(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		var recorders sync.WaitGroup
		for day := range 3 {
			e := b.event("full@example.com", messages.Bounce, "Transient", day)
			recorders.Go(func() {
				if err := b.record(context.WithoutCancel(t.Context()), e); err != nil {
					t.Error(err)
				}
			})
		}
		recorders.Wait()
		if got := b.status("full@example.com"); got != "listed repeated_transient" {
			t.Errorf("%q", got)
		}
	})
}

// TestJudgingIsPartOfTheTransaction checks that a rolled back transaction does not add its
// address to the list of undeliverable addresses.
func TestJudgingIsPartOfTheTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	e := b.event("gone@example.com", messages.Complaint, "", 1)
	_ = b.db.InTx(t.Context(), func(ctx context.Context) error {
		b.must(b.record(ctx, e))
		return core.Internal(nil)
	})
	if got := b.status("gone@example.com"); got != "" {
		t.Errorf("%q", got)
	}
}

func TestExcludedAddressesComeBack(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		b.must(b.record(t.Context(), b.event("gone@example.com", messages.Bounce, "Permanent", 1)))
		entry := suppression.Entry{Key: "gone@example.com"}
		if _, err := b.s.Exclude(t.Context(), b.org, entry.ID(), "works again"); err != nil {
			t.Fatal(err)
		}
		b.must(b.record(t.Context(), b.event("gone@example.com", messages.Bounce, "Permanent", 2)))
		if got := b.status("gone@example.com"); got != "excluded permanent_bounce" {
			t.Errorf("an event from before that arrived late: %q", got)
		}
		shown := b.want(core.REST, "undeliverable_list", `{"status":"excluded"}`)["data"].([]any)
		if len(shown) != 1 || shown[0].(map[string]any)["exclusion_reason"] != "works again" {
			t.Errorf("%v", shown)
		}
		b.must(b.record(t.Context(), b.event("gone@example.com", messages.Bounce, "Permanent", 61)))
		u, err := b.s.Undeliverable(t.Context(), b.org, "gone@example.com")
		if err != nil || u.Status != suppression.Listed || u.EventCount != 1 || u.ExcludedAt != nil || u.ExclusionReason != nil {
			t.Errorf("%+v, %v", u, err)
		}
	})
}

func TestOtherRulesJudgeEverythingAnew(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		var events []messages.Event
		const addresses = 450 // more than two batches
		for i := range addresses {
			for day := range 3 {
				events = append(events, b.event(fmt.Sprintf("a%d@example.com", i), messages.Bounce, "Undetermined", day))
			}
		}
		b.must(b.record(t.Context(), append(events, b.event("gone@example.com", messages.Reject, "", 1))...))
		count := func(status suppression.Status) int {
			t.Helper()
			n, err := db.Suppression().CountEntries(t.Context(), b.org, suppression.EntryFilter{Status: status})
			b.must(err)
			return n
		}
		change := func(p suppression.Profile, listed, excluded int) {
			t.Helper()
			if _, err := b.s.SetRules(t.Context(), b.org, suppression.RulesOf(p)); err != nil {
				t.Fatal(err)
			}
			b.must(b.s.RejudgeWorker().Work(t.Context(), suppression.RejudgeArgs{}))
			if count(suppression.Listed) != listed || count(suppression.Excluded) != excluded {
				t.Errorf("%s: %d listed, %d excluded", p, count(suppression.Listed), count(suppression.Excluded))
			}
		}
		change(suppression.Aggressive, addresses+1, 0)
		change(suppression.Strict, 1, addresses)
		change(suppression.Aggressive, addresses+1, 0)
		custom := suppression.RulesOf(suppression.Custom)
		custom.PermanentBounce.Enabled = false
		if _, err := b.s.SetRules(t.Context(), b.org, custom); core.AsError(err).Code != core.CodeValidationFailed {
			t.Errorf("a locked rule was switched off: %v", err)
		}
	})
}

// TestPollingMissesNothing checks a caller that reads all pages, and then polls for changes
// since the greatest last_changed_at that it received. An entry that changes while the
// caller reads the pages moves before the first page. The poll must return it.
func TestPollingMissesNothing(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setup(t, db)
		for i := range 5 {
			b.must(b.record(t.Context(), b.event(fmt.Sprintf("a%d@example.com", i), messages.Complaint, "", 1)))
		}
		seen, cursor, greatest := map[string]string{}, "", ""
		see := func(shown map[string]any) {
			for _, item := range shown["data"].([]any) {
				record := item.(map[string]any)
				seen[record["email"].(string)] = record["status"].(string)
				greatest = max(greatest, record["last_changed_at"].(string))
			}
		}
		since := noon.Add(900 * time.Millisecond).Format(time.RFC3339Nano) // is cut to the second
		for page := 0; ; page++ {
			arguments := fmt.Sprintf(`{"since":%q,"limit":2,"cursor":%q}`, since, cursor)
			shown := b.want(core.REST, "undeliverable_list", strings.ReplaceAll(arguments, `,"cursor":""`, ""))
			see(shown)
			if page == 0 {
				entry := suppression.Entry{Key: "a0@example.com"}
				if _, err := b.s.Exclude(t.Context(), b.org, entry.ID(), "asked"); err != nil {
					t.Fatal(err)
				}
				b.must(b.record(t.Context(), b.event("a9@example.com", messages.Complaint, "", 1)))
			}
			next, more := shown["pagination"].(map[string]any)["next_cursor"].(string)
			if !more {
				break
			}
			cursor = next
		}
		if seen["a0@example.com"] != "" || seen["a9@example.com"] != "" {
			t.Errorf("what moved in front is behind the cursor: %v", seen)
		}
		see(b.want(core.REST, "undeliverable_list", fmt.Sprintf(`{"since":%q}`, greatest)))
		want := map[string]string{
			"a0@example.com": "excluded", "a1@example.com": "listed", "a2@example.com": "listed",
			"a3@example.com": "listed", "a4@example.com": "listed", "a9@example.com": "listed",
		}
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("(-want +seen):\n%s", diff)
		}
		if listed := b.want(core.REST, "undeliverable_list", `{}`)["data"].([]any); len(listed) != 5 {
			t.Errorf("without since: %d", len(listed))
		}
		for status, want := range map[string]int{"listed": 5, "excluded": 1} {
			arguments := fmt.Sprintf(`{"since":%q,"status":%q}`, since, status)
			if changed := b.want(core.REST, "undeliverable_list", arguments)["data"].([]any); len(changed) != want {
				t.Errorf("since, and %s alone: %d", status, len(changed))
			}
		}
		sample := b.want(core.Agent, "undeliverable_list", `{"limit":1}`)
		if first := sample["items"].([]any)[0].(map[string]any); first["email"] != "a9@example.com" || sample["total"] != 5.0 || sample["truncated"] != true {
			t.Errorf("for an agent: %v", sample)
		}
	})
}

func TestRulesAndTheirVersion(t *testing.T) {
	t.Parallel()
	b := setup(t, storagetest.SQLite(t))
	document := b.want(core.REST, "undeliverable_rules", `{}`)
	_, view, err := b.call(core.REST, "undeliverable_list", `{}`)
	b.must(err)
	header := view.(interface{ HeaderValue() string }).HeaderValue()
	if document["profile"] != "standard" || document["version"] != header || len(header) != 12 {
		t.Errorf("%v, header %q", document, header)
	}
	rules := document["rules"].(map[string]any)
	want := map[string]any{"enabled": true, "locked": false, "events": 3.0, "window_days": 30.0}
	if diff := cmp.Diff(want, rules["repeated_transient"]); len(rules) != 6 || diff != "" {
		t.Errorf("%d rules, repeated_transient:\n%s", len(rules), diff)
	}
	if _, err := b.s.SetRules(t.Context(), b.org, suppression.RulesOf(suppression.Strict)); err != nil {
		t.Fatal(err)
	}
	if changed := b.want(core.REST, "undeliverable_rules", `{}`); changed["version"] == header {
		t.Error("other rules, the same version")
	}
}
