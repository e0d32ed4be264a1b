package browser_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// TestApprovals opens the pages about approvals, policies and the stop of all mail, without
// scripts, and approves a send.
func TestApprovals(t *testing.T) {
	t.Parallel()
	s := newScene(t, product.Options{})
	id := s.askToSend()
	tab := browser.Open(t, browser.Options{NoScript: true})
	s.openSignedIn(tab, "/dashboard/approvals")
	tab.Expect(http.StatusOK, "Spring news", "Waits for approval")
	tab.Picture("approvals")
	tab.Submit("tbody th a")
	tab.Expect(http.StatusOK, "Members of the audience", "Get the message", "Checks", "Approve send")
	tab.AwaitColour("iframe.preview", "#8a4b2a")
	tab.Picture("approval")
	tab.ExpectReachable()
	tab.Submit("form[action$='/approve'] button")
	tab.Expect(http.StatusOK, "Approved. The send has begun.", "Approved by you")
	tab.Picture("approval-approved")
	if b, err := s.p.DB.Broadcasts().Broadcast(t.Context(), s.p.OrgID, id); err != nil || b.StartedAt == nil {
		t.Errorf("the broadcast is %s, %v", b.State, err)
	}
	tab.Go(s.p.AppURL + "/dashboard/send-policy")
	tab.Expect(http.StatusOK, "Which sends wait", "Courier for teams")
	tab.Picture("send-policy")
	tab.Submit("tbody th a")
	tab.Expect(http.StatusOK, "Recipients a day")
	choose(tab, "input[value=always]")
	tab.Fill("#recipients_a_day", "1000")
	tab.Submit("form button.primary")
	tab.Expect(http.StatusOK, "The policy is saved", "always", "1,000")
	tab.Go(s.p.AppURL + "/dashboard")
	tab.Submit(".actions a[href$='/stop-mail']")
	tab.Expect(http.StatusOK, "Stop all mail?")
	tab.Picture("stop-mail")
	tab.Submit("main form button.danger")
	tab.Expect(http.StatusOK, "All mail of this organization is stopped", "Allow mail")
	tab.Picture("stopped-mail")
}

// askToSend lets the API key of the organization ask for a send, which must wait, and returns
// the broadcast's id.
func (s *scene) askToSend() string {
	s.t.Helper()
	s.verifyDomain("news.fernhill.example")
	if err := s.p.DB.SendPolicies().SavePolicy(s.t.Context(), s.p.OrgID, approvals.Policy{Rule: approvals.Always, UpdatedAt: s.p.Clock.Now()}); err != nil {
		s.t.Fatal(err)
	}
	ask := func(path, body string, want int) string {
		s.t.Helper()
		answer := s.p.Send(s.t, product.Request{Method: http.MethodPost, URL: s.p.BaseURL + path, Bearer: s.p.Live.APIKey, Body: body})
		var made struct{ ID string }
		if err := json.Unmarshal([]byte(answer.Body), &made); err != nil || answer.Status != want {
			s.t.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
		}
		return made.ID
	}
	id := ask("/v1/broadcasts", `{"name":"Spring news","html":"<body style=\"background: #8a4b2a\"><p>Dear {{first_name}}, spring is here.</p></body>","subject":"Spring is here","audience_kind":"list","audience_id":"newsletter"}`, http.StatusCreated)
	ask("/v1/broadcasts/"+id+"/send", `{"acknowledge_no_topic":true}`, http.StatusAccepted)
	return id
}

// verifyDomain gives the sending account a verified domain, and copies it to the product, as
// a sync does.
func (s *scene) verifyDomain(name string) {
	s.t.Helper()
	domain := sending.Identity{Identity: name, Verification: sending.Success}
	account := &sending.Overview{SendingEnabled: true, Max24HourSend: -1, MaxSendRate: 1000}
	if err := s.p.Simulator.Seed(s.t.Context(), s.p.OrgID, simulator.Setup{Account: account, Identities: []sending.Identity{domain}}); err != nil {
		s.t.Fatal(err)
	}
	product.Await(s.t, 30*time.Second, func() error { // a sync of the product may come between the two calls
		last, err := s.p.DB.Channels().LastSync(s.t.Context(), s.p.OrgID)
		if err != nil {
			return err
		}
		return s.p.DB.Channels().Mirror(s.t.Context(), s.p.OrgID, channels.Seen{
			Sync: channels.Sync{Account: last.Account, Region: last.Region, At: s.p.Clock.Now()}, Previous: last.At, Identities: []sending.Identity{domain},
		})
	})
}
