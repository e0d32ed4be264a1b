package approvals_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/approving"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/approvals"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	workflowstore "github.com/mailhelm/mailhelm/storage/workflows"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is text as an attacker would write it: HTML, and a character that reverses the
// order of the text after it.
const hostile = "<script>alert(1)</script>\u202egro.elpmaxe"

// desk is a desk whose sends would do what the test says. Its decisions are stored.
type desk struct {
	*approving.Desk
	now     *broadcasts.Standing
	changed bool
	// decisions has what pages decided.
	decisions []string
}

func (d *desk) Case(ctx context.Context, orgID, id string) (approving.Case, error) {
	a, err := d.Gate.Store.Approval(ctx, orgID, id)
	if err != nil || a.State != approvals.Pending {
		return approving.Case{Approval: a}, err
	}
	return approving.Case{Approval: a, Now: d.now, Changed: d.changed}, nil
}

func (d *desk) Approve(_ context.Context, _, userID, id string, shown approving.Shown) (approving.Outcome, error) {
	if shown != (approving.Shown{Size: 1300, Mailable: 1201}) {
		return approving.Outcome{}, core.Conflict("The audience changed while you looked at the page.", "Check the new numbers, then approve again.")
	}
	d.decisions = append(d.decisions, "approved "+id+" by "+userID)
	return approving.Outcome{State: broadcasts.Sending}, nil
}

// office is an organization with an application, a list and approvals in each state.
type office struct {
	*frametest.Office
	db     *storage.DB
	desk   *desk
	client access.Client
	pages  http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{db: db, Office: frametest.NewOffice(t, frametest.DatabaseOf(db),
		frame.Area{Group: "Send", Path: "/dashboard/broadcasts", Name: "Broadcasts", Needs: members.MayViewCampaigns},
		frame.Area{Group: "Send", Path: pages.Path, Name: "Approvals", Needs: members.MayViewCampaigns},
		frame.Area{Group: "Send", Path: pages.PolicyPath, Name: "Send policy", Needs: members.MayManageOrg})}
	o.client = access.Client{
		ID: core.NewID(), ClientID: "oc_live_" + strings.Repeat("a", 22), OrgID: o.Org.ID, Name: "Helper" + hostile, Environment: core.Live, Kind: access.RegisteredClient, CreatedAt: frametest.Now(),
	}
	o.Must(db.Clients().InsertClient(t.Context(), o.client))
	o.Frame.MailStopped = func(ctx context.Context, orgID string) (bool, error) {
		stop, err := db.HandoverLimits().Stopped(ctx, orgID)
		return stop != nil, err
	}
	o.Frame.Operations = &frametest.Operations{T: t, Results: map[string]string{
		"lists_list": `{"data":[{"id":"0196f0a0-0000-7000-8000-000000000001","key":"news","name":"News","description":"","member_count":3,"status":"active","origin":"managed","source_path":"","source_url":"","source":"api","created_at":"2026-03-12T10:00:00Z","updated_at":"2026-03-12T10:00:00Z"}],"pagination":{"has_more":false,"next_cursor":null}}`,
		"broadcasts_preview": `{"audience_size":1300,"variables":[],"warnings":[],"sample":{"contact_id":"0196f0a0-0000-7000-8000-000000000001","email":"a@example.com",
			"subject":"Hi","preview_text":"","html":"<p>Dear Ada</p><script>alert(1)</script>","text":"Dear Ada"}}`,
	}}
	gate := approving.Gate{Store: db.Approvals(), Policies: db.SendPolicies(), Audit: db.Audit(), Clock: frametest.Now, PageURL: pages.PathOf}
	now := sendPreview()
	now.AudienceSize, now.Mailable = 1300, 1201
	o.desk = &desk{Desk: &approving.Desk{Gate: gate}, now: &broadcasts.Standing{Preview: now, Warnings: []string{broadcasts.NoTopicWarning}}}
	room, err := pages.New(o.Frame, pages.Config{
		Desk: o.desk, Store: db.SendPolicies(), Policies: approvals.Policies{Store: db.SendPolicies(), Audit: db.Audit(), Clock: frametest.Now},
		Limits: approvals.Limits{Store: db.HandoverLimits(), Audit: db.Audit(), Clock: frametest.Now}, Stops: db.HandoverLimits(),
		Grants: db.Grants(), Clients: db.Clients(), Wake: func() {}, Held: workflowstore.NewRunStore(db.DB), HeldPath: "/dashboard/workflows/held",
		Actors: actors.Actors{Members: db.Members(), Users: db.Users(), Keys: db.Keys(), Clients: db.Clients()},
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

func preview() approvals.Preview { return approving.Freeze(sendPreview()) }

func sendPreview() broadcasts.SendPreview {
	return broadcasts.SendPreview{
		Name: "Spring " + hostile, Audience: "All " + hostile, AudienceKind: "list", AudienceSize: 1234, Mailable: 1200, ByAccount: 30, ByTopic: 4,
		From: "Acme <news@acme.example>", Subject: "Hi " + hostile, Blank: []broadcasts.BlankVariable{{Variable: "first_name", Members: 12}},
	}
}

// insert stores an approval that the application asked for.
func (o *office) insert(state approvals.State, change func(*approvals.Approval)) string {
	o.T.Helper()
	a := approvals.Approval{
		ID: core.NewID(), BroadcastID: core.NewID(), State: state, AskedBy: approvals.Caller{Kind: "oauth_client", ID: o.client.ID, UserID: o.User.ID},
		RequestedAt: frametest.Now().Add(-time.Hour), ExpiresAt: frametest.Now().Add(71 * time.Hour), Revision: 1, Digest: "digest", Preview: preview(),
	}
	if state != approvals.Pending {
		at := frametest.Now().Add(-time.Minute)
		a.DecidedAt = &at
	}
	if change != nil {
		change(&a)
	}
	o.Must(o.db.Approvals().Insert(o.T.Context(), o.Org.ID, a))
	return a.ID
}

func (o *office) golden(name, path string) {
	o.T.Helper()
	_, page := frametest.Get(o.T, o.pages, path)
	frametest.CompareGolden(o.T, name, page, *update)
	if strings.Contains(page, "<script>alert") || strings.Contains(page, "\u202e") {
		o.T.Errorf("%s shows hostile text", name)
	}
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.golden("empty", pages.Path)
	waiting := o.insert(approvals.Pending, nil)
	late := o.insert(approvals.Pending, func(a *approvals.Approval) {
		at := frametest.Now().Add(-10 * time.Minute)
		a.ScheduledAt, a.AskedBy = &at, approvals.Caller{Kind: "api_key", ID: "gone"}
	})
	own := o.insert(approvals.Pending, func(a *approvals.Approval) { a.AskedBy = approvals.Caller{Kind: "user", ID: o.User.ID} })
	rejected := o.insert(approvals.Rejected, func(a *approvals.Approval) { a.DecidedBy, a.Reason = o.User.ID, "Not "+hostile })
	voided := o.insert(approvals.Voided, func(a *approvals.Approval) { a.Reason = string(broadcasts.VoidedByDelete) })
	o.insert(approvals.Expired, nil)
	o.insert(approvals.Unneeded, nil)
	o.golden("approvals", pages.Path)
	o.golden("approvals_decided", pages.Path+"?show=decided")
	o.golden("approval", pages.PathOf(waiting))
	o.golden("approval_late", pages.PathOf(late))
	o.golden("approval_own", pages.PathOf(own))
	o.golden("approval_rejected", pages.PathOf(rejected))
	o.golden("approval_voided", pages.PathOf(voided))
	o.golden("stop", frame.StopPath)
	o.golden("policies", pages.PolicyPath)
	o.Must(o.db.HandoverLimits().Use(t.Context(), o.Org.ID, o.client.ID, int(frametest.Now().Unix()/86400), 1234))
	o.golden("application", pages.PolicyPath+"/"+o.client.ID)
	_, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.PolicyPath, url.Values{"rule": {"above"}, "above": {"many"}, "also_people": {"on"}})
	frametest.CompareGolden(t, "policies_refused", page, *update)
	o.desk.changed = true
	o.golden("approval_changed", pages.PathOf(waiting))
	o.Allow(members.MayViewCampaigns)
	o.golden("approval_reader", pages.PathOf(waiting))
}

// TestMail checks how the rendered mail of a stranger is shown.
func TestMail(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	path := pages.PathOf(o.insert(approvals.Pending, nil)) + "/mail"
	for into, want := range map[string]int{"": http.StatusOK, "iframe": http.StatusOK, "document": http.StatusSeeOther} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
		r.Header.Set("Sec-Fetch-Dest", into)
		w := httptest.NewRecorder()
		o.pages.ServeHTTP(w, r)
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != want || want == http.StatusOK && (!strings.HasPrefix(policy, "sandbox; default-src 'none'") || !strings.Contains(w.Body.String(), "<p>Dear Ada</p>")) {
			t.Errorf("into %q: %d, policy %q, %s", into, w.Code, policy, w.Body)
		}
	}
	for _, state := range []approvals.State{approvals.Rejected, approvals.Voided} {
		if status, _ := frametest.Get(t, o.pages, pages.PathOf(o.insert(state, nil))+"/mail"); status != http.StatusNotFound {
			t.Errorf("the mail of one that is %s: %d", state, status)
		}
	}
}

// shown is the form of an approval with the numbers of the page.
var shown = url.Values{"audience_size": {"1300"}, "mailable": {"1201"}}

func TestDecisions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.insert(approvals.Pending, nil)
	for _, form := range []url.Values{{}, {"audience_size": {"1300"}}, {"audience_size": {"x"}, "mailable": {"1201"}}} {
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, pages.PathOf(id)+"/approve", form); status != http.StatusUnprocessableEntity {
			t.Errorf("%v: %d", form, status)
		}
	}
	status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.PathOf(id)+"/approve", url.Values{"audience_size": {"1299"}, "mailable": {"1201"}})
	if status != http.StatusConflict || !strings.Contains(page, "The audience changed while you looked") || !strings.Contains(page, `name="audience_size" value="1300"`) {
		t.Errorf("with other numbers: %d %s", status, page)
	}
	if len(o.desk.decisions) != 0 {
		t.Errorf("decisions %v", o.desk.decisions)
	}
	long := strings.Repeat("x", 501)
	if status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.PathOf(id)+"/reject", url.Values{"reason": {long}}); status != http.StatusUnprocessableEntity || !strings.Contains(page, long) {
		t.Errorf("a long reason: %d", status)
	}
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, pages.PathOf(core.NewID())+"/reject", url.Values{"reason": {"No."}}); status != http.StatusNotFound {
		t.Errorf("an unknown approval: %d", status)
	}
}

// TestPermissions checks that each form needs its permission at the time of the change.
func TestPermissions(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	first, second := o.insert(approvals.Pending, nil), o.insert(approvals.Pending, nil)
	state := func() []any {
		stop, err := o.db.HandoverLimits().Stopped(t.Context(), o.Org.ID)
		o.Must(err)
		caps, err := o.db.HandoverLimits().Caps(t.Context(), o.Org.ID)
		o.Must(err)
		policies, err := o.db.SendPolicies().Policies(t.Context(), o.Org.ID)
		o.Must(err)
		rejected, err := o.db.Approvals().Approval(t.Context(), o.Org.ID, second)
		o.Must(err)
		return []any{stop, caps, policies, rejected.State, strings.Join(o.desk.decisions, ", ")}
	}
	o.CheckPermissions(o.pages, state,
		frametest.Form{Name: "approve", Needs: members.MayApproveSends, Path: pages.PathOf(first) + "/approve", Form: shown, Done: http.StatusSeeOther},
		frametest.Form{Name: "reject", Needs: members.MayApproveSends, Path: pages.PathOf(second) + "/reject", Form: url.Values{"reason": {"No."}}, Done: http.StatusSeeOther},
		frametest.Form{Name: "stop", Needs: members.MayManageCampaigns, Path: frame.StopPath, Form: url.Values{"do": {"stop"}}, Done: http.StatusSeeOther},
		frametest.Form{Name: "allow", Needs: members.MayManageCampaigns, Path: frame.StopPath, Form: url.Values{"do": {"allow"}}, Done: http.StatusSeeOther},
		frametest.Form{Name: "policy", Needs: members.MayManageOrg, Path: pages.PolicyPath, Form: url.Values{"rule": {"always"}}, Done: http.StatusSeeOther},
		frametest.Form{Name: "application", Needs: members.MayManageOrg, Path: pages.PolicyPath + "/" + o.client.ID, Form: url.Values{"rule": {"never"}, "recipients_a_day": {"500"}}, Done: http.StatusSeeOther},
	)
	o.Allow(members.MayViewCampaigns, members.MayManageCampaigns, members.MayManageOrg)
	for _, do := range []string{"/approve", "/reject"} {
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, pages.PathOf(first)+do, shown); status != http.StatusForbidden {
			t.Errorf("%s without the permission: %d", do, status)
		}
	}
}

// TestPolicyForms checks what the forms store, and that they show it again.
func TestPolicyForms(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	list, hidden := "0196f0a0-0000-7000-8000-000000000001", "0196f0a0-0000-7000-8000-000000000002"
	own := pages.PolicyPath + "/" + o.client.ID
	for _, one := range []struct {
		path string
		form url.Values
		want string
	}{
		{pages.PolicyPath, url.Values{"rule": {"outside_lists"}, "list": {list, hidden, "x", list}, "above": {"7"}, "also_people": {"on"}}, " outside_lists 0 2 true"},
		{own, url.Values{"rule": {"above"}, "above": {" 250 "}, "recipients_a_day": {"1000"}}, o.client.ID + " above 250 0 false"},
		{own, url.Values{"rule": {""}, "recipients_a_day": {""}}, ""},
	} {
		status, page := frametest.Post(t, o.pages, o.Site.Visitor, one.path, one.form)
		all, err := o.db.SendPolicies().Policies(t.Context(), o.Org.ID)
		o.Must(err)
		got := ""
		for _, p := range all {
			if strings.HasSuffix(one.path, p.Application) && (p.Application == "") == (one.path == pages.PolicyPath) {
				got = p.Application + " " + string(p.Rule) + " " + strconv.Itoa(p.Above) + " " + strconv.Itoa(len(p.Lists)) + " " + strconv.FormatBool(p.AlsoPeople)
			}
		}
		if status != http.StatusSeeOther || got != one.want {
			t.Errorf("%s: %d, stored %q, want %q: %s", one.path, status, got, one.want, page)
		}
	}
	_, page := frametest.Get(t, o.pages, pages.PolicyPath)
	for _, want := range []string{`value="` + list + `" checked`, `type="hidden" name="list" value="` + hidden + `"`, `value="outside_lists" checked`, `name="also_people" checked`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: %s", want, page)
		}
	}
	for form, want := range map[string]string{"rule=never&recipients_a_day=0": "The number of recipients a day must be from 1", "rule=sometimes": "The rule must be never", "rule=above&above=0": "The number of members must be"} {
		values, err := url.ParseQuery(form)
		o.Must(err)
		if status, page := frametest.Post(t, o.pages, o.Site.Visitor, own, values); status != http.StatusUnprocessableEntity || !strings.Contains(page, want) {
			t.Errorf("%s: %d %s", form, status, page)
		}
	}
	if caps, err := o.db.HandoverLimits().Caps(t.Context(), o.Org.ID); err != nil || len(caps) != 0 {
		t.Errorf("limits %v, %v", caps, err)
	}
	if status, _ := frametest.Get(t, o.pages, pages.PolicyPath+"/"+core.NewID()); status != http.StatusNotFound {
		t.Errorf("an unknown application: %d", status)
	}
}

// TestGoldenStopIsSeenEverywhere checks that every page says that all mail is stopped, and who may
// end that.
func TestGoldenStopIsSeenEverywhere(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	if _, page := frametest.Get(t, o.pages, pages.Path); strings.Contains(page, "All mail of this organization is stopped") {
		t.Error("a page says that mail is stopped")
	}
	status, _ := frametest.Post(t, o.pages, o.Site.Visitor, frame.StopPath, url.Values{"do": {"maybe"}})
	if status != http.StatusUnprocessableEntity {
		t.Errorf("neither stop nor allow: %d", status)
	}
	frametest.Post(t, o.pages, o.Site.Visitor, frame.StopPath, url.Values{"do": {"stop"}})
	o.golden("stopped", frame.StopPath+"?done=stopped")
	for _, path := range []string{pages.Path, pages.PolicyPath, "/dashboard/nowhere"} {
		_, page := frametest.Get(t, o.pages, path)
		if !strings.Contains(page, "All mail of this organization is stopped") || !strings.Contains(page, `href="/dashboard/stop-mail"`) {
			t.Errorf("%s: %s", path, page)
		}
	}
	o.Allow(members.MayViewCampaigns)
	if _, page := frametest.Get(t, o.pages, pages.Path); !strings.Contains(page, "All mail of this organization is stopped") || strings.Contains(page, `href="/dashboard/stop-mail"`) {
		t.Errorf("for a member who may not allow mail: %s", page)
	}
}
