package broadcasts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/broadcasts"
)

// otherTemplate is a template that was changed.
type otherTemplate struct{ *world }

func (o otherTemplate) Template(ctx context.Context, orgID, slug string, number int) (broadcasts.Template, error) {
	t, err := o.world.Template(ctx, orgID, slug, number)
	t.HTML = "<p>Buy now</p>" + t.HTML
	return t, err
}

// TestDrift checks that a person approves what the page shows: neither another content nor
// other numbers.
func TestDrift(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		id := g.draft(t, `"template_id": "welcome", "topic_id": "news"`)
		g.ask(t, helper, id, time.Time{})
		asked, shown := g.waiting(t)[0], approving.Shown{Size: 3, Mailable: 2}
		g.add(t, person{email: "d@example.com"})
		if _, err := g.approveShown(t, "grace", asked.ID, shown); core.AsError(err).Code != core.CodeConflict || !strings.Contains(err.Error(), "audience changed") {
			t.Errorf("with an audience that grew: %v", err)
		}
		c, err := g.desk.Case(t.Context(), g.org, asked.ID)
		must(t, err)
		if c.Changed || c.Approval.Preview.AudienceSize != 3 || c.Now.Preview.AudienceSize != 4 || c.Now.Preview.Mailable != 3 {
			t.Errorf("the page has %+v, then %+v", c.Now.Preview, c.Approval.Preview)
		}
		g.Templates = otherTemplate{g.world}
		shown = approving.Shown{Size: 4, Mailable: 3}
		if _, err := g.approveShown(t, "grace", asked.ID, shown); core.AsError(err).Code != core.CodeConflict || !strings.Contains(err.Error(), "content, audience or topic changed") {
			t.Errorf("with another template: %v", err)
		}
		if c, err := g.desk.Case(t.Context(), g.org, asked.ID); err != nil || !c.Changed {
			t.Errorf("the page does not say that the content changed: %v", err)
		}
		if g.read(t, id).State != broadcasts.Draft || g.approval(t, id) != "pending" {
			t.Errorf("state %s, approval %s", g.read(t, id).State, g.approval(t, id))
		}
		g.Templates = g.world
		_, err = g.approveShown(t, "grace", asked.ID, shown)
		must(t, err)
		g.dispatch(t, "p")
		if len(g.mails()) != 3 {
			t.Errorf("%d mails", len(g.mails()))
		}
	})
}

// TestExpiry checks that an approval ends after 72 hours, for callers at once and in the
// store by the job.
func TestExpiry(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		id := g.inline(t)
		g.ask(t, helper, id, time.Time{})
		asked := g.waiting(t)[0]
		g.advance(72*time.Hour - time.Second)
		must(t, g.desk.Gate.Expire(t.Context(), g.db, g.org))
		if n, err := g.desk.CountWaiting(t.Context(), g.org); err != nil || n != 1 || g.approval(t, id) != "pending" {
			t.Errorf("before: %d wait, %v, approval %s", n, err, g.approval(t, id))
		}
		g.advance(time.Second)
		if n, err := g.desk.CountWaiting(t.Context(), g.org); err != nil || n != 0 || g.approval(t, id) != "expired" {
			t.Errorf("after: %d wait, %v, approval %s", n, err, g.approval(t, id))
		}
		if _, err := g.approveShown(t, "grace", asked.ID, approving.Shown{Size: 3, Mailable: 2}); core.AsError(err).Code != core.CodeConflict {
			t.Errorf("approving it: %v", err)
		}
		for range 2 {
			must(t, g.desk.Gate.Expire(t.Context(), g.db, g.org))
		}
		if next := g.nextStep(t, id); !strings.Contains(next, "No person decided in time") {
			t.Errorf("the next step is %q", next)
		}
		if got := g.ask(t, helper, id, time.Time{}); got != "awaiting_approval" || g.approval(t, id) != "pending" {
			t.Errorf("asking again: %s, approval %s", got, g.approval(t, id))
		}
		want := []string{"send.policy_updated user", "send.approval_requested oauth_client", "send.approval_expired system", "send.approval_requested oauth_client"}
		if diff := cmp.Diff(want, g.events(t)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// TestApprovedTimes checks the times of approved sends: in the future, and in the past.
func TestApprovedTimes(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		id := g.inline(t)
		g.ask(t, helper, id, start.Add(time.Hour))
		done, err := g.approve(t, "grace")
		must(t, err)
		g.dispatch(t, "p")
		if b := g.read(t, id); done.State != broadcasts.Scheduled || done.Late || b.State != broadcasts.Scheduled || len(g.mails()) != 0 {
			t.Errorf("%+v, state %s, %d mails", done, b.State, len(g.mails()))
		}
		g.advance(time.Hour)
		g.dispatch(t, "p")
		if b := g.read(t, id); b.State != broadcasts.Sent || len(g.mails()) != 2 {
			t.Errorf("at its time: state %s, %d mails", b.State, len(g.mails()))
		}
		late := g.inline(t)
		g.ask(t, helper, late, g.Now().Add(time.Hour))
		g.advance(2 * time.Hour)
		if done, err = g.approve(t, "grace"); err != nil || !done.Late || done.State != broadcasts.Sending {
			t.Errorf("after its time: %+v, %v", done, err)
		}
	})
}

// TestStartOfScheduledSends checks that a scheduled send waits at its start if it is not what
// was asked for or approved any more.
func TestStartOfScheduledSends(t *testing.T) {
	eachGuarded(t, approvals.Policy{Rule: approvals.AboveSize, Above: 3}, func(t *testing.T, g *guarded) {
		grown, free, edited := g.inline(t), g.inline(t), g.draft(t, `"template_id": "welcome", "topic_id": "news"`)
		at := start.Add(time.Hour)
		if a, b := g.ask(t, helper, grown, at), g.ask(t, ada, free, at); a != "scheduled" || b != "scheduled" {
			t.Fatalf("a small audience: %s, %s", a, b)
		}
		g.add(t, person{email: "d@example.com"}, person{email: "e@example.com"})
		if got := g.ask(t, helper, edited, at); got != "awaiting_approval" {
			t.Fatalf("a large audience: %s", got)
		}
		_, err := g.approve(t, "grace")
		must(t, err)
		g.Templates = otherTemplate{g.world}
		g.advance(time.Hour)
		g.dispatch(t, "p")
		for id, want := range map[string]string{grown: "draft pending", edited: "draft pending", free: "sent none"} {
			if got := string(g.read(t, id).State) + " " + g.approval(t, id); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		for _, a := range g.waiting(t) {
			if a.AskedBy.ID != helper.ID || a.Preview.AudienceSize != 5 {
				t.Errorf("it waits for %+v", a)
			}
			c, err := g.desk.Case(t.Context(), g.org, a.ID)
			must(t, err)
			out, err := g.approveShown(t, "grace", a.ID, approving.Shown{Size: c.Now.Preview.AudienceSize, Mailable: c.Now.Preview.Mailable})
			if err != nil || !out.Late {
				t.Errorf("approved: %+v, %v", out, err)
			}
		}
	})
}

// TestGrowthOfApprovedAudience checks how much the audience of an approved send may grow
// until its start.
func TestGrowthOfApprovedAudience(t *testing.T) {
	eachGuarded(t, always, func(t *testing.T, g *guarded) {
		first, second := g.inline(t), g.inline(t)
		for id, hours := range map[string]int{first: 1, second: 2} {
			g.ask(t, helper, id, start.Add(time.Duration(hours)*time.Hour))
			_, err := g.approve(t, "grace")
			must(t, err)
		}
		for i := range 10 {
			g.add(t, person{email: fmt.Sprintf("n%d@example.com", i)})
		}
		g.advance(time.Hour)
		g.dispatch(t, "p")
		g.add(t, person{email: "one.too.many@example.com"})
		g.advance(time.Hour)
		g.dispatch(t, "p")
		if a, b := g.read(t, first), g.read(t, second); a.State != broadcasts.Sent || b.State != broadcasts.Draft || g.approval(t, second) != "pending" {
			t.Errorf("ten more: %s, eleven more: %s and %s", a.State, b.State, g.approval(t, second))
		}
	})
}
