package browser_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
)

func TestSendingHealth(t *testing.T) {
	t.Parallel()
	withAndWithoutScripts(t, func(t *testing.T, s *scene, tab *browser.Tab) {
		s.openSignedIn(tab, "/dashboard/health")
		tab.Expect(http.StatusOK, "Nothing was sent in the last 30 days")
		tab.Picture("health-empty")

		s.send(20)
		tab.Go(s.p.AppURL + "/dashboard/health")
		tab.Expect(http.StatusOK, "Sending health", "Deliveries", "Engagement", "The bounce rate is", "mailbox1.example", "person1@mailbox1.example")
		if drawings := tab.ReadAll(".plot .drawing > title"); len(drawings) != 4 {
			t.Errorf("drawings: %q", drawings)
		}
		tab.Picture("health")
		tab.ExpectReachable()
		tab.Mark(".chart summary")
		tab.Picture("health-figures")
		tab.Submit(".windows a[href$='days=7']")
		tab.Expect(http.StatusOK, "Sending health", "Deliveries")
		tab.Go(s.p.AppURL + "/dashboard/health?days=8")
		tab.Expect(http.StatusUnprocessableEntity, "This window is not supported")

		s.demote(members.MayViewAnalytics)
		tab.Go(s.p.AppURL + "/dashboard/health")
		tab.Expect(http.StatusOK, "p***@mailbox1.example", "analytics.search.recipients")
		if strings.Contains(tab.Text(), "person1@") {
			t.Error("an address is shown to a member who may not see it")
		}
		tab.Picture("health-masked")
		s.demote(members.MayViewLists)
		tab.Go(s.p.AppURL + "/dashboard/health")
		tab.Expect(http.StatusForbidden, "analytics.view")
	})
}

// demote makes the signed-in person a plain member with one permission, which the parameter
// to names.
func (s *scene) demote(to members.Permission) {
	s.t.Helper()
	user, err := s.p.DB.Users().UserByEmail(s.t.Context(), s.p.UserEmail)
	if err == nil {
		err = s.p.DB.Members().SetMember(s.t.Context(), members.Member{
			OrgID: s.p.OrgID, UserID: user.ID, Role: members.PlainMember, Permissions: []members.Permission{to},
		})
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// send records message events of the organization for each of the last days. The number of
// messages varies from day to day.
func (s *scene) send(days int) {
	s.t.Helper()
	var events []messages.Event
	for d := range days {
		at := s.p.Clock.Now().AddDate(0, 0, -d).Add(-time.Hour)
		for i := range 40 + 17*(d*d%7) {
			events = append(events, lifeOf(fmt.Sprintf("m-%d-%d", d, i), i, at)...)
		}
	}
	figures := reports.New(reports.Config{Store: s.p.DB.Reports(), Clock: s.p.Clock.Now})
	err := s.p.DB.InTx(s.t.Context(), func(ctx context.Context) error {
		fresh, err := s.p.DB.Messages().RecordEvents(ctx, s.p.OrgID, events, s.p.Clock.Now())
		if err != nil {
			return err
		}
		return figures.ObserveEvents(ctx, s.p.OrgID, fresh)
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

// lifeOf returns the events of the i-th message. About one message in thirteen bounces;
// some are rejected, opened, clicked or complained about.
func lifeOf(id string, i int, at time.Time) []messages.Event {
	kinds := []messages.EventType{messages.Send, messages.Delivery}
	switch {
	case i%13 == 1:
		kinds[1] = messages.Bounce
	case i%41 == 2:
		kinds[1] = messages.Reject
	case i%97 == 3:
		kinds = append(kinds, messages.Complaint)
	case i%3 == 0:
		kinds = append(kinds, messages.Open)
	}
	if i%9 == 0 {
		kinds = append(kinds, messages.Click)
	}
	var events []messages.Event
	for n, kind := range kinds {
		e := messages.Event{
			ID: fmt.Sprintf("%s-%d", id, n), MessageID: id, Type: kind, OccurredAt: at.Add(time.Duration(n) * time.Minute),
			Recipient: fmt.Sprintf("person%d@mailbox%d.example", i, i%4),
			Mail:      messages.Mail{From: "hello@shop.example", SentAt: at, Template: "welcome", Channel: "shop"},
		}
		if kind == messages.Bounce {
			e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: "General"}
		}
		events = append(events, e)
	}
	return events
}
