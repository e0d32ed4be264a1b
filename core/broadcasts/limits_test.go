package broadcasts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/testsends"
)

// TestDailyCap sends to 25 recipients for an application that may mail 10 a day. It takes
// three days, and no recipient is filtered.
func TestDailyCap(t *testing.T) {
	eachGuarded(t, approvals.Policy{Rule: approvals.Never}, func(t *testing.T, g *guarded) {
		for i := range 23 {
			g.add(t, person{email: fmt.Sprintf("n%d@example.com", i)})
		}
		ten, none := 10, 0
		must(t, g.limits.SetCap(t.Context(), access.ActorOf("owner"), g.org, helper.ID, &ten))
		if err := g.limits.SetCap(t.Context(), access.ActorOf("owner"), g.org, helper.ID, &none); core.AsError(err).Code != core.CodeValidationFailed {
			t.Errorf("a limit of 0: %v", err)
		}
		id := g.inline(t)
		g.ask(t, helper, id, time.Time{})
		for day, want := range []int{10, 20, 25} {
			for range 3 { // further looks on the same day change nothing
				g.dispatch(t, "p")
			}
			if got := len(g.mails()); got != want {
				t.Fatalf("%d mails on day %d", got, day)
			}
			midnight := start.Truncate(24*time.Hour).AddDate(0, 0, day+1)
			if b := g.read(t, id); want < 25 {
				if b.State != broadcasts.Sending || b.Paused == nil || b.Paused.Reason != broadcasts.PausedByCap || b.Paused.ResumesAt == nil || !b.Paused.ResumesAt.Equal(midnight) {
					t.Errorf("day %d: state %s, pause %+v", day, b.State, b.Paused)
				}
				if next := g.nextStep(t, id); !strings.Contains(next, "goes on tomorrow (UTC)") {
					t.Errorf("the next step is %q", next)
				}
			}
			g.advance(midnight.Sub(g.Now()))
		}
		// The 26th member of the list has opted out of all mail.
		if b := g.read(t, id); b.State != broadcasts.Sent || b.Sent != 25 || b.Filtered != 1 || b.Paused != nil {
			t.Errorf("at the end: %+v", b)
		}
		must(t, g.limits.SetCap(t.Context(), access.ActorOf("owner"), g.org, helper.ID, nil))
		if caps, err := g.db.HandoverLimits().Caps(t.Context(), g.org); err != nil || len(caps) != 0 {
			t.Errorf("limits %v, %v", caps, err)
		}
	})
}

// TestCapsAreSeparate checks that the limit of an application holds for its sends together,
// and for no other caller.
func TestCapsAreSeparate(t *testing.T) {
	eachGuarded(t, approvals.Policy{Rule: approvals.Never}, func(t *testing.T, g *guarded) {
		three := 3
		must(t, g.limits.SetCap(t.Context(), access.ActorOf("owner"), g.org, helper.ID, &three))
		for _, as := range []core.Credential{helper, helper, other, key, ada} {
			g.ask(t, as, g.inline(t), time.Time{})
		}
		for range 3 {
			g.dispatch(t, "p")
		}
		if got := len(g.sent); got != 3+3*2 {
			t.Errorf("%d mails", got)
		}
	})
}

// TestStopAllMail stops all mail while a broadcast is being sent, and allows it again.
func TestStopAllMail(t *testing.T) {
	eachGuarded(t, approvals.Policy{Rule: approvals.Never}, func(t *testing.T, g *guarded) {
		by, id := access.ActorOf("owner"), g.inline(t)
		for range 2 {
			must(t, g.limits.StopMail(t.Context(), by, g.org))
		}
		if got := g.ask(t, helper, id, time.Time{}); got != "sending" {
			t.Errorf("a send while mail is stopped: %s", got)
		}
		g.dispatch(t, "p")
		b := g.read(t, id)
		if b.State != broadcasts.Sending || b.Paused == nil || b.Paused.Reason != broadcasts.PausedByStop || b.Paused.ResumesAt != nil || len(g.mails()) != 0 {
			t.Errorf("while it is stopped: state %s, pause %+v, %d mails", b.State, b.Paused, len(g.mails()))
		}
		if next := g.nextStep(t, id); !strings.Contains(next, "A person stopped all mail") {
			t.Errorf("the next step is %q", next)
		}
		out, err := g.call(t, "broadcasts_test_send", `{"id": "`+id+`", "recipients": ["ada@example.com"]}`)
		must(t, err)
		if r := out.(testsends.Result); r.Sent != 0 || !strings.Contains(r.Results[0].Error, "A person stopped all mail") {
			t.Errorf("a test send: %+v", r)
		}
		for range 2 {
			must(t, g.limits.AllowMail(t.Context(), by, g.org))
		}
		g.dispatch(t, "p")
		if b = g.read(t, id); b.State != broadcasts.Sent || b.Sent != 2 || b.Filtered != 1 || b.Paused != nil {
			t.Errorf("after it is allowed: %+v", b)
		}
		if diff := cmp.Diff([]string{"send.policy_updated user", "mail.stopped user", "mail.allowed user"}, g.events(t)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}
