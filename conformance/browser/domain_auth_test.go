package browser_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demoreports"
	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/members"
)

// TestDomainAuthentication goes the way of the guide "From none to reject" with the reports of the
// demo: it decides about sources, writes a note, compares before and after the last change,
// accepts the cost of the next policy, and copies the record to publish.
func TestDomainAuthentication(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]browser.Options{"with scripts": {}, "without scripts": {NoScript: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			scripts := !options.NoScript
			s, tab := newScene(t, product.Options{InboxDomain: mailDomain, StartsAt: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)}), browser.Open(t, options)
			s.addReports()
			s.openSignedIn(tab, "/dashboard/domain-auth")
			tab.Expect(http.StatusOK, demoreports.Domain, "30 of 30")
			s.look(tab, "domain-auth", scripts)
			tab.Submit("tbody th a")
			tab.Expect(http.StatusOK, "Passed and failed", "What receivers did")
			s.look(tab, "domain-auth-overview", scripts)
			tab.Go(s.domainPage("?days=365"))
			tab.Expect(http.StatusOK, "No reports", "The policy went from none to quarantine")
			tab.Picture("domain-auth-overview-year")
			s.decideAboutSources(tab, scripts)
			s.writeNote(tab, scripts)
			s.compareSides(tab, scripts)
			s.acceptCost(tab, scripts)
			s.readRecords(tab, scripts)
			s.decideAboutReporter(tab, scripts)
			s.viewAsMember(tab)
		})
	}
}

// domainPage returns the address of a page of the demo's domain.
func (s *scene) domainPage(rest string) string {
	return s.p.AppURL + "/dashboard/domain-auth/" + demoreports.Domain + rest
}

// look checks a page: its width, that every control is reached by the keyboard, and with scripts
// the rules of axe-core.
func (s *scene) look(tab *browser.Tab, name string, scripts bool) {
	s.t.Helper()
	tab.Picture(name)
	tab.ExpectReachable()
	if scripts {
		tab.Accessible("#side")
	}
}

// mailDomain is the domain of report addresses in the product of tests.
const mailDomain = "in.mailhelm.test"

// addReports adds the domain and the reports of the demo.
func (s *scene) addReports() {
	s.t.Helper()
	user, err := s.p.DB.Users().UserByEmail(s.t.Context(), s.p.UserEmail)
	s.must(err)
	s.must(s.p.DB.DomainAuth().AddDomain(s.t.Context(), s.p.OrgID, demoreports.Domain, s.p.Clock.Now().AddDate(0, 0, -demoreports.Days)))
	s.must(demoreports.Seeder{
		DB: s.p.DB, OrgID: s.p.OrgID, UserID: user.ID, Clock: s.p.Clock.Now,
		Address: func(token string) string { return arrivals.AddressOf(token, mailDomain) },
	}.Ensure(s.t.Context()))
}

// must fails the test at once if err is not nil.
func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// decideAboutSources rejects the sources that block the next policy, with a filter that stays,
// and takes a decision back and repeats it.
func (s *scene) decideAboutSources(tab *browser.Tab, scripts bool) {
	s.t.Helper()
	tab.Go(s.domainPage("/policy"))
	tab.Expect(http.StatusOK, "Not ready for reject", "1 condition is not met", "Decide first about each source")
	tab.Picture("domain-auth-policy-not-ready")
	tab.Go(s.domainPage("/sources"))
	tab.Expect(http.StatusOK, "cheaphosting.example", "spoofing", "What the kinds mean")
	s.look(tab, "domain-auth-sources", scripts)
	tab.Unfold(".detail li")
	tab.Picture("domain-auth-sources-details")
	tab.Go(s.domainPage("/sources?decision=unreviewed&classification=spoofing"))
	tab.Expect(http.StatusOK, "198.18.77.0/24")
	tab.Submit("button[value=rejected]")
	tab.Expect(http.StatusOK, "The source is rejected", "No source of the last 30 days matches these filters")
	if got := tab.Address().Query().Get("classification"); got != "spoofing" {
		s.t.Errorf("after a decision, the filter is %q", got)
	}
	tab.Go(s.domainPage("/sources?classification=unknown"))
	tab.Submit("button[value=confirmed]")
	tab.Expect(http.StatusOK, "The source is confirmed")
	tab.Go(s.domainPage("/policy"))
	tab.Expect(http.StatusOK, "All mail of 1 sender of yours fails")
	tab.Go(s.domainPage("/sources?classification=unknown"))
	tab.Submit("button[value=unreviewed]")
	tab.Expect(http.StatusOK, "The decision is taken back")
	tab.Submit("button[value=rejected]")
	tab.Expect(http.StatusOK, "The source is rejected")
}

// writeNote adds a note with markup to the timeline.
func (s *scene) writeNote(tab *browser.Tab, scripts bool) {
	s.t.Helper()
	tab.Go(s.domainPage("/timeline"))
	tab.Expect(http.StatusOK, "The policy went from none to quarantine", "was confirmed")
	s.look(tab, "domain-auth-timeline", scripts)
	tab.Unfold("#note")
	tab.Fill("#note", "The shop moved to <b>another</b> server.")
	tab.Choose("#day", s.p.Clock.Now().UTC().AddDate(0, 0, -3).Format(time.DateOnly))
	tab.Submit("form[action$='/notes'] button")
	tab.Expect(http.StatusOK, "The note is in the timeline", "The shop moved to <b>another</b> server.")
	tab.Go(s.domainPage("/timeline?kind=note"))
	tab.Expect(http.StatusOK, "The shop moved to <b>another</b> server.")
}

// compareSides compares before and after the last change of the policy.
func (s *scene) compareSides(tab *browser.Tab, scripts bool) {
	s.t.Helper()
	tab.Go(s.domainPage("/timeline?kind=policy_change"))
	tab.Submit("ol.timeline li a")
	tab.Expect(http.StatusOK, "Before and after", "Less mail passes", "Failing messages by source")
	s.look(tab, "domain-auth-comparison", scripts)
	tab.Submit("ul.windows li:last-child a")
	tab.Expect(http.StatusOK, "30 days")
	tab.Go(s.domainPage("/timeline?kind=setup_change"))
	tab.Submit("ol.timeline li a")
	tab.Expect(http.StatusOK, "Before and after")
	tab.Picture("domain-auth-comparison-setup")
}

// acceptCost accepts the mail that the next policy loses, and copies the record to publish.
func (s *scene) acceptCost(tab *browser.Tab, scripts bool) {
	s.t.Helper()
	tab.Go(s.domainPage("/policy"))
	tab.Expect(http.StatusOK, "Ready for reject, except for one decision", "Forwarded mail that would be lost")
	s.look(tab, "domain-auth-policy-pending", scripts)
	tab.Fill("#note", "The baristas know.")
	tab.Submit("form[action$='/acknowledge'] button")
	tab.Expect(http.StatusOK, "You accepted the cost of this step", "Ready for reject", "v=DMARC1; p=reject; sp=reject")
	s.look(tab, "domain-auth-policy-ready", scripts)
	if record := tab.Read(".snippet code"); !strings.HasPrefix(record, "v=DMARC1; p=reject") {
		s.t.Errorf("the record to publish is %q", record)
	}
	if scripts {
		tab.Mark(".snippet button.copy")
		tab.Await(".snippet button.copy[data-done]")
	}
}

// readRecords looks at the records that reports need, and asks for a new look at DNS.
func (s *scene) readRecords(tab *browser.Tab, scripts bool) {
	s.t.Helper()
	tab.Go(s.domainPage("/setup"))
	tab.Expect(http.StatusOK, "Reports are sent here", "found", "@"+mailDomain)
	s.look(tab, "domain-auth-records", scripts)
	tab.Submit("form[action$='/remeasure'] button")
	tab.Expect(http.StatusOK, "The records are read again within about a minute", "You can ask again at")
}

// decideAboutReporter rejects a reporter whose file is held.
func (s *scene) decideAboutReporter(tab *browser.Tab, scripts bool) {
	s.t.Helper()
	tab.Go(s.p.AppURL + "/dashboard/domain-auth/received")
	tab.Expect(http.StatusOK, "No report came by mail")
	tab.Picture("domain-auth-received-none")
	d, err := s.p.DB.DomainAuth().Domain(s.t.Context(), s.p.OrgID, demoreports.Domain)
	s.must(err)
	now := s.p.Clock.Now()
	held := arrivals.File{
		OrgID: s.p.OrgID, ID: core.NewID(), DomainID: d.ID, Origin: arrivals.Mail, MessageID: "m1", Size: 4321, State: arrivals.Held, ReceivedAt: now, UpdatedAt: now, DueAt: now.Add(arrivals.Kept),
		Name: "a-rather-long-name-of-a-report.small-receiver.example!example.com!1795737600!1795823999.xml.gz", Sender: "reports@small-receiver.example", Reporter: "small-receiver.example",
		Problem: "DMARC did not pass for the mail that brought this file.",
	}
	_, err = s.p.DB.ReportArrivals().AddFiles(s.t.Context(), s.p.OrgID, []arrivals.File{held})
	s.must(err)
	s.must(s.p.DB.InTx(s.t.Context(), func(ctx context.Context) error {
		_, err := s.p.DB.ReportArrivals().LockDecision(ctx, s.p.OrgID, held.Reporter, now)
		return err
	}))
	tab.Go(s.p.AppURL + "/dashboard/domain-auth/received")
	tab.Expect(http.StatusOK, "Who may report", "small-receiver.example", "waits for a decision")
	s.look(tab, "domain-auth-received", scripts)
	tab.Submit("button[value=rejected]")
	tab.Expect(http.StatusOK, "The reporter is rejected")
}

// viewAsMember opens the pages as a member who may not change anything of the organization, and
// turns on mails to oneself.
func (s *scene) viewAsMember(tab *browser.Tab) {
	s.t.Helper()
	user, err := s.p.DB.Users().UserByEmail(s.t.Context(), s.p.UserEmail)
	s.must(err)
	s.must(s.p.DB.Members().SetMember(s.t.Context(), members.Member{OrgID: s.p.OrgID, UserID: user.ID, Role: members.PlainMember, Permissions: []members.Permission{members.MayViewDomainAuth}}))
	for _, path := range []string{"/sources", "/policy", "/timeline", "/setup"} {
		tab.Go(s.domainPage(path))
		tab.Expect(http.StatusOK)
		if forms := tab.ReadAll(".page form[method=post]:not([action$='/mails'])"); len(forms) > 0 {
			s.t.Errorf("%s shows forms to a member who may only view: %q", path, forms)
		}
	}
	tab.Mark("input[name=digest]")
	tab.Submit("form[action$='/mails'] button[type=submit]")
	tab.Expect(http.StatusOK, "Mails to you")
	if on := tab.ReadAll("li:has(input[name=digest]:checked)"); len(on) != 1 {
		s.t.Errorf("the digest is not on: %q", on)
	}
}
