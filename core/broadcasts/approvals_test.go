package broadcasts_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// The callers of the tests.
var (
	helper = core.Credential{Kind: core.OAuthClient, ID: "0196f0a0-0000-7000-8000-00000000000a"}
	other  = core.Credential{Kind: core.OAuthClient, ID: "0196f0a0-0000-7000-8000-00000000000b"}
	key    = core.Credential{Kind: core.APIKey, ID: "key"}
	ada    = core.Credential{Kind: core.Person, ID: "ada"}
)

// guarded is a world in which sends may wait for the approval of a person.
type guarded struct {
	*world
	desk   *approving.Desk
	limits approvals.Limits
}

func newGuarded(t *testing.T, db *storage.DB) *guarded {
	t.Helper()
	w := newWorld(t, db)
	gate := approving.Gate{
		Store: db.Approvals(), Policies: db.SendPolicies(), Audit: db.Audit(), Clock: w.Now,
		PageURL: func(id string) string { return "https://app.example/approvals/" + id },
	}
	w.Approvals = gate
	return &guarded{w, &approving.Desk{Gate: gate, Broadcasts: w.Broadcasts}, approvals.Limits{Store: db.HandoverLimits(), Audit: db.Audit(), Clock: w.Now}}
}

// eachGuarded runs a test on each database, with three people on the list and a policy of
// the organization.
func eachGuarded(t *testing.T, p approvals.Policy, test func(t *testing.T, g *guarded)) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGuarded(t, db)
		g.add(t, person{email: "a@example.com"}, person{email: "b@example.com"}, person{email: "c@example.com", out: true})
		g.policy(t, p)
		test(t, g)
	})
}

func (g *guarded) policy(t *testing.T, p approvals.Policy) {
	t.Helper()
	set := approvals.Policies{Store: g.db.SendPolicies(), Audit: g.db.Audit(), Clock: g.Now}
	must(t, set.Set(t.Context(), access.ActorOf("owner"), g.org, p))
}

// inline returns a new draft with inline content.
func (g *guarded) inline(t *testing.T) string {
	t.Helper()
	return g.draft(t, `"subject": "News", "html": "<p>Hello</p>", "topic_id": "news"`)
}

// ask asks for a send and returns its status. at is the time of the send, zero for at once.
func (g *guarded) ask(t *testing.T, as core.Credential, id string, at time.Time) string {
	t.Helper()
	arguments := `{"id": "` + id + `"`
	if !at.IsZero() {
		arguments += `, "scheduled_at": "` + at.Format(time.RFC3339) + `"`
	}
	out, err := g.callAs(t, as, "broadcasts_send", arguments+"}")
	must(t, err)
	return out.(broadcasts.Started).Status
}

// record reads a broadcast as REST shows it.
func (g *guarded) record(t *testing.T, id string) broadcasts.Record {
	t.Helper()
	out, err := g.call(t, "broadcasts_get", `{"id": "`+id+`"}`)
	must(t, err)
	return out.(broadcasts.Record)
}

// approval returns the latest approval of a broadcast in words: its status and the reason.
func (g *guarded) approval(t *testing.T, id string) string {
	t.Helper()
	a := g.record(t, id).Approval
	if a == nil {
		return "none"
	}
	if a.Reason != nil {
		return a.Status + ": " + *a.Reason
	}
	return a.Status
}

// waiting returns the approvals that wait.
func (g *guarded) waiting(t *testing.T) []approvals.Approval {
	t.Helper()
	page, err := g.desk.Find(t.Context(), g.org, true, "", 50)
	must(t, err)
	return page.Items
}

// approve approves the only waiting send with the numbers that the page shows.
func (g *guarded) approve(t *testing.T, user string) (approving.Outcome, error) {
	t.Helper()
	all := g.waiting(t)
	if len(all) != 1 {
		t.Fatalf("%d approvals wait", len(all))
	}
	c, err := g.desk.Case(t.Context(), g.org, all[0].ID)
	must(t, err)
	return g.approveShown(t, user, all[0].ID, approving.Shown{Size: c.Now.Preview.AudienceSize, Mailable: c.Now.Preview.Mailable})
}

func (g *guarded) approveShown(t *testing.T, user, id string, shown approving.Shown) (out approving.Outcome, err error) {
	t.Helper()
	err = g.db.InTx(t.Context(), func(ctx context.Context) error {
		out, err = g.desk.Approve(ctx, g.org, user, id, shown)
		return err
	})
	return out, err
}

func (g *guarded) reject(t *testing.T, id, reason string) error {
	t.Helper()
	return g.db.InTx(t.Context(), func(ctx context.Context) error { return g.desk.Reject(ctx, g.org, "grace", id, reason) })
}

// nextStep returns what broadcasts_get_status tells an agent to do.
func (g *guarded) nextStep(t *testing.T, id string) string {
	t.Helper()
	out, err := g.call(t, "broadcasts_get_status", `{"broadcast_id": "`+id+`"}`)
	must(t, err)
	return out.(broadcasts.Status).Next
}

// events returns the events of the audit log about sends and mail, oldest first, each with
// the kind of its actor.
func (g *guarded) events(t *testing.T) []string {
	t.Helper()
	all, err := g.db.Audit().FindAudit(t.Context(), g.org, access.AuditFilter{Limit: 100})
	must(t, err)
	var events []string
	for _, e := range slices.Backward(all) {
		events = append(events, e.Action+" "+e.ActorKind)
	}
	return events
}

var always = approvals.Policy{Rule: approvals.Always}

// TestWhichSendsWait asks for sends by each kind of caller under each rule.
func TestWhichSendsWait(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		g := newGuarded(t, db)
		g.add(t, person{email: "a@example.com"}, person{email: "b@example.com"})
		outside := core.NewID()
		must(t, db.Lists().InsertList(t.Context(), g.org, lists.List{ID: outside, Key: "other", Name: "Other", Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: start, UpdatedAt: start}))
		for name, one := range map[string]struct {
			all, own approvals.Policy
			waits    []core.Credential
		}{
			"never":         {approvals.Policy{Rule: approvals.Never}, approvals.Policy{}, nil},
			"always":        {always, approvals.Policy{}, []core.Credential{helper, other, key}},
			"also people":   {approvals.Policy{Rule: approvals.Always, AlsoPeople: true}, approvals.Policy{}, []core.Credential{helper, other, key, ada}},
			"above 2":       {approvals.Policy{Rule: approvals.AboveSize, Above: 2}, approvals.Policy{}, nil},
			"above 1":       {approvals.Policy{Rule: approvals.AboveSize, Above: 1}, approvals.Policy{}, []core.Credential{helper, other, key}},
			"inside lists":  {approvals.Policy{Rule: approvals.OutsideLists, Lists: []string{outside, g.list}}, approvals.Policy{}, nil},
			"outside lists": {approvals.Policy{Rule: approvals.OutsideLists, Lists: []string{outside}}, approvals.Policy{}, []core.Credential{helper, other, key}},
			"own rule":      {approvals.Policy{Rule: approvals.Never}, always, []core.Credential{helper}},
			"own freedom":   {always, approvals.Policy{Rule: approvals.Never}, []core.Credential{other, key}},
		} {
			one.own.Application = helper.ID
			g.policy(t, one.all)
			g.policy(t, one.own)
			for _, as := range []core.Credential{helper, other, key, ada} {
				want := "sending"
				if slices.Contains(one.waits, as) {
					want = "awaiting_approval"
				}
				id := g.inline(t)
				if got := g.ask(t, as, id, time.Time{}); got != want {
					t.Errorf("%s, %s %s: %s, want %s", name, as.Kind, as.ID, got, want)
				}
				if state := g.read(t, id).State; (state == broadcasts.Draft) != (want == "awaiting_approval") {
					t.Errorf("%s, %s: the state is %s", name, as.ID, state)
				}
			}
		}
	})
}

// TestInvalidPolicies checks the refusals of policies, and that they change nothing.
func TestInvalidPolicies(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		set := approvals.Policies{Store: g.db.SendPolicies(), Audit: g.db.Audit(), Clock: g.Now}
		for _, p := range []approvals.Policy{
			{Rule: "sometimes"},
			{},
			{Rule: approvals.AboveSize},
			{Rule: approvals.AboveSize, Above: -1},
			{Rule: approvals.OutsideLists},
			{Rule: approvals.OutsideLists, Lists: make([]string, 101)},
		} {
			if err := set.Set(t.Context(), access.ActorOf("owner"), g.org, p); core.AsError(err).Code != core.CodeValidationFailed {
				t.Errorf("%+v: %v", p, err)
			}
		}
		if all, err := g.db.SendPolicies().Policies(t.Context(), g.org); err != nil || len(all) != 1 || all[0].Rule != approvals.Always {
			t.Errorf("policies %+v, %v", all, err)
		}
	})
}

// TestHeldSend follows a send that waits: what callers see, that asking again changes
// nothing, and that it begins when a person approves it.
func TestHeldSend(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		id := g.inline(t)
		out, err := g.callAs(t, helper, "broadcasts_send", `{"id": "`+id+`"}`)
		must(t, err)
		g.dispatch(t, "p")
		waits := g.waiting(t)
		if len(waits) != 1 || len(g.mails()) != 0 || g.read(t, id).State != broadcasts.Draft {
			t.Fatalf("%d wait, %d mails, state %s", len(waits), len(g.mails()), g.read(t, id).State)
		}
		started, url := out.(broadcasts.Started), "https://app.example/approvals/"+waits[0].ID
		if got := asJSON(t, started.RESTView()); got != `{"id":"`+id+`","status":"awaiting_approval"}` {
			t.Errorf("REST gets %s", got)
		}
		if agent := started.AgentView(); agent.Status != "awaiting_approval" || !strings.Contains(agent.Summary, url) {
			t.Errorf("agents get %+v", agent)
		}
		want := broadcasts.Approval{Status: "pending", RequestedAt: start, ExpiresAt: start.Add(72 * time.Hour), URL: url}
		if diff := cmp.Diff(&want, g.record(t, id).Approval); diff != "" {
			t.Errorf("the record (-want +got):\n%s", diff)
		}
		page, err := g.call(t, "broadcasts_list", `{}`)
		must(t, err)
		if diff := cmp.Diff(&want, page.(core.Page[broadcasts.Record]).Items[0].Approval); diff != "" {
			t.Errorf("the list (-want +got):\n%s", diff)
		}
		if next := g.nextStep(t, id); !strings.Contains(next, "a person must approve") || !strings.Contains(next, url) {
			t.Errorf("the next step is %q", next)
		}
		frozen := waits[0]
		if p := frozen.Preview; frozen.Revision != 1 || p.AudienceSize != 3 || p.Mailable != 2 || p.ByAccount != 1 || p.Subject != "News" || frozen.AskedBy.ID != helper.ID {
			t.Errorf("frozen: %+v", frozen)
		}
		for range 2 {
			if got := g.ask(t, helper, id, time.Time{}); got != "awaiting_approval" || len(g.waiting(t)) != 1 || g.waiting(t)[0].ID != frozen.ID {
				t.Errorf("asking again: %s, %d wait", got, len(g.waiting(t)))
			}
		}
		done, err := g.approve(t, "grace")
		must(t, err)
		if done.State != broadcasts.Sending || done.Late || g.read(t, id).Application != helper.ID {
			t.Errorf("approved: %+v, application %q", done, g.read(t, id).Application)
		}
		g.dispatch(t, "p")
		if b := g.read(t, id); b.State != broadcasts.Sent || b.Sent != 2 || b.Filtered != 1 || len(g.mails()) != 2 || g.approval(t, id) != "approved" {
			t.Errorf("%+v, approval %s", b, g.approval(t, id))
		}
		if _, err := g.approveShown(t, "grace", frozen.ID, approving.Shown{Size: 3, Mailable: 2}); core.AsError(err).Code != core.CodeConflict {
			t.Errorf("a second approval: %v", err)
		}
		if diff := cmp.Diff([]string{"send.policy_updated user", "send.approval_requested oauth_client", "send.approved user"}, g.events(t)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// TestRejectedSend checks that the caller reads the reason, and may ask again.
func TestRejectedSend(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		id := g.inline(t)
		g.ask(t, helper, id, time.Time{})
		waits := g.waiting(t)[0]
		for _, reason := range []string{"", " \n", strings.Repeat("x", 501)} {
			if err := g.reject(t, waits.ID, reason); core.AsError(err).Code != core.CodeValidationFailed {
				t.Errorf("the reason %.10q: %v", reason, err)
			}
		}
		must(t, g.reject(t, waits.ID, "Name the new\u202e date."))
		if got := g.approval(t, id); got != "rejected: Name the new date." {
			t.Errorf("the approval is %q", got)
		}
		if next := g.nextStep(t, id); !strings.Contains(next, `rejected the send: "Name the new date."`) {
			t.Errorf("the next step is %q", next)
		}
		if err := g.reject(t, waits.ID, "Again."); core.AsError(err).Code != core.CodeConflict {
			t.Errorf("a second rejection: %v", err)
		}
		if got := g.ask(t, helper, id, time.Time{}); got != "awaiting_approval" || g.waiting(t)[0].ID == waits.ID || g.approval(t, id) != "pending" {
			t.Errorf("asking after the rejection: %s", got)
		}
	})
}

// TestVoidedApprovals checks that each change of the draft ends the approval that was asked
// for, and that nothing is sent by it.
func TestVoidedApprovals(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		for name, one := range map[string]struct {
			change func(id string) error
			want   string
		}{
			"edit": {func(id string) error {
				_, err := g.Edit(t.Context(), g.org, id, 1, broadcasts.Definition{Name: "News", HTML: "<p>Other</p>", Subject: "Other", AudienceKind: "list", AudienceID: "all"})
				return err
			}, "voided: The broadcast was edited."},
			"cancel": {func(id string) error { _, err := g.Cancel(t.Context(), g.org, id); return err }, "voided: The broadcast was cancelled."},
			"split": {func(id string) error {
				_, err := g.Split(t.Context(), &core.Call{Principal: core.Principal{Credential: ada}}, g.org, id, 5)
				return err
			}, "voided: The broadcast was edited."},
			"send by a person": {func(id string) error {
				_, err := g.callAs(t, ada, "broadcasts_send", `{"id": "`+id+`", "scheduled_at": "2026-03-02T12:00:00Z"}`)
				return err
			}, "none"},
			"another time": {func(id string) error {
				_, err := g.callAs(t, helper, "broadcasts_send", `{"id": "`+id+`", "scheduled_at": "2026-03-02T12:00:00Z"}`)
				return err
			}, "pending"},
		} {
			id := g.inline(t)
			g.ask(t, helper, id, time.Time{})
			asked, err := g.db.Approvals().Latest(t.Context(), g.org, []string{id})
			must(t, err)
			must(t, one.change(id))
			if got := g.approval(t, id); got != one.want {
				t.Errorf("%s: the approval is %q", name, got)
			}
			if first, err := g.db.Approvals().Approval(t.Context(), g.org, asked[0].ID); err != nil || first.State != approvals.Voided {
				t.Errorf("%s: the first approval is %s, %v", name, first.State, err)
			}
			if _, err := g.approveShown(t, "grace", asked[0].ID, approving.Shown{Size: 3, Mailable: 2}); core.AsError(err).Code != core.CodeConflict {
				t.Errorf("%s: approving it: %v", name, err)
			}
		}
		id := g.inline(t)
		g.ask(t, helper, id, time.Time{})
		asked := g.waiting(t)[0]
		_, err := g.call(t, "broadcasts_delete", `{"id": "`+id+`"}`)
		must(t, err)
		if _, err := g.approveShown(t, "grace", asked.ID, approving.Shown{Size: 3, Mailable: 2}); core.AsError(err).Code != core.CodeConflict {
			t.Errorf("approving a deleted broadcast: %v", err)
		}
		c, err := g.desk.Case(t.Context(), g.org, asked.ID)
		must(t, err)
		if c.Approval.State != approvals.Voided || approving.ReasonOf(c.Approval) != "The broadcast was deleted." || c.Now != nil {
			t.Errorf("the case of a deleted broadcast is %+v", c)
		}
		g.dispatch(t, "p")
		if len(g.mails()) != 0 {
			t.Errorf("%d mails", len(g.mails()))
		}
	})
}

// TestOwnSend checks that a person cannot approve what the person asked for on the dashboard,
// and can approve what an application asked for in the person's name.
func TestOwnSend(t *testing.T) {
	eachGuarded(t, approvals.Policy{Rule: approvals.Always, AlsoPeople: true}, func(t *testing.T, g *guarded) {
		id := g.inline(t)
		g.ask(t, ada, id, time.Time{})
		if _, err := g.approve(t, ada.ID); core.AsError(err).Code != core.CodeInvalidScope || g.read(t, id).State != broadcasts.Draft {
			t.Errorf("her own send: %v, state %s", err, g.read(t, id).State)
		}
		_, err := g.approve(t, "grace")
		must(t, err)
		g.ask(t, helper, g.inline(t), time.Time{})
		_, err = g.approve(t, ada.ID)
		must(t, err)
	})
}

// TestConcurrentDecisions lets people decide about one send at the same time: one decision
// counts, and the broadcast is sent at most once.
func TestConcurrentDecisions(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		id := g.inline(t)
		g.ask(t, helper, id, time.Time{})
		asked := g.waiting(t)[0]
		results := make(chan error)
		for i := range 6 {
			go func() {
				results <- g.db.InTx(t.Context(), func(ctx context.Context) error {
					if i%2 == 0 {
						return g.desk.Reject(ctx, g.org, "grace", asked.ID, "No.")
					}
					_, err := g.desk.Approve(ctx, g.org, "grace", asked.ID, approving.Shown{Size: 3, Mailable: 2})
					return err
				})
			}()
		}
		done := 0
		for range 6 {
			err := <-results
			if err == nil {
				done++
			} else if core.AsError(err).Code != core.CodeConflict {
				t.Errorf("a decision: %v", err)
			}
		}
		sent := g.read(t, id).State == broadcasts.Sending
		if done != 1 || sent != (g.approval(t, id) == "approved") {
			t.Errorf("%d decisions, state %s, approval %s", done, g.read(t, id).State, g.approval(t, id))
		}
	})
}

// TestOtherOrganization checks that an organization neither sees nor decides about the
// approvals of another one.
func TestOtherOrganization(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		id := g.inline(t)
		g.ask(t, helper, id, time.Time{})
		asked, stranger := g.waiting(t)[0], core.NewID()
		if _, err := g.desk.Case(t.Context(), stranger, asked.ID); !core.IsNotFound(err) {
			t.Errorf("the case: %v", err)
		}
		if _, err := g.desk.Approve(t.Context(), stranger, "grace", asked.ID, approving.Shown{Size: 3, Mailable: 2}); !core.IsNotFound(err) {
			t.Errorf("approving: %v", err)
		}
		if err := g.desk.Reject(t.Context(), stranger, "grace", asked.ID, "No."); !core.IsNotFound(err) {
			t.Errorf("rejecting: %v", err)
		}
		if all, err := g.db.Approvals().Latest(t.Context(), stranger, []string{id}); err != nil || len(all) != 0 {
			t.Errorf("latest: %v, %v", all, err)
		}
	})
}
