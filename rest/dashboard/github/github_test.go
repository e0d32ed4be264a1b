package github_test

import (
	"context"
	"errors"
	"flag"
	"html"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/github"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

const redirect = "https://app.example.com/dashboard/git/github"

// app offers repositories to the person with the code "good".
type app struct {
	offers []git.Offer
	err    error
	codes  []string
}

func (a *app) AuthorizeURL(_ context.Context, back, state string) (string, error) {
	return "https://github.example/authorize?" + url.Values{"redirect_uri": {back}, "state": {state}}.Encode(), a.err
}

func (a *app) InstallURL(context.Context) (string, error) {
	return "https://github.example/install", a.err
}

func (a *app) Offers(_ context.Context, back, code string) ([]git.Offer, error) {
	a.codes = append(a.codes, code)
	if code != "good" || back != redirect {
		return nil, &git.Refusal{Reason: "GitHub does not accept the code."}
	}
	return a.offers, nil
}

// office is an organization with the page.
type office struct {
	*frametest.Office
	db        *storage.DB
	app       *app
	now       time.Time
	connected []git.Connection
	pages     http.Handler
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{
		Office: frametest.NewOffice(t, frametest.DatabaseOf(db), frame.Area{Path: frame.Path + "/git", Name: "Git repository"}), db: db, now: frametest.Now(),
		app: &app{offers: []git.Offer{{Installation: 7, Location: "acme/definitions"}, {Installation: 8, Location: "acme/shop"}}},
	}
	room, err := pages.New(o.Frame, pages.Config{
		App: o.app, AppURL: "https://app.example.com/", Then: frame.Path + "/git", Clock: func() time.Time { return o.now },
		Log: slog.New(slog.DiscardHandler),
		Connect: func(_ context.Context, c git.Connection) (git.Connection, error) {
			if len(o.connected) > 0 {
				return c, core.Conflict("The organization has a repository.", "Disconnect it first.")
			}
			c.ID = "id"
			o.connected = append(o.connected, c)
			return c, nil
		},
	})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

var (
	stateOf = regexp.MustCompile(`state=([^"&]+)`)
	offerOf = regexp.MustCompile(`<option value="([^"]+)">acme/shop`)
	tokens  = regexp.MustCompile(`[A-Z2-7]{52}`)
)

func (o *office) get(t *testing.T, query url.Values, want int) string {
	t.Helper()
	status, page := frametest.Get(t, o.pages, pages.Path+"?"+query.Encode())
	if status != want {
		t.Fatalf("%v: %d %s", query, status, page)
	}
	return page
}

// state returns the state of a new page.
func (o *office) state(t *testing.T) string {
	t.Helper()
	found := stateOf.FindStringSubmatch(html.UnescapeString(o.get(t, nil, http.StatusOK)))
	state, err := url.QueryUnescape(found[1])
	o.Must(err)
	return state
}

func (o *office) compare(t *testing.T, name, page string) {
	t.Helper()
	frametest.CompareGolden(t, name, tokens.ReplaceAllString(page, strings.Repeat("A", 52)), *update)
}

func TestGoldenConnect(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	// GitHub sends an installation id after an installation, which any browser could.
	o.compare(t, "start", o.get(t, url.Values{"installation_id": {"666"}, "setup_action": {"install"}}, http.StatusOK))
	page := o.get(t, url.Values{"code": {"good"}, "state": {o.state(t)}, "installation_id": {"666"}}, http.StatusOK)
	o.compare(t, "choice", page)
	offer := html.UnescapeString(offerOf.FindStringSubmatch(page)[1])
	form := url.Values{"offer": {offer}, "path_prefix": {"mail"}, "installation": {"666"}, "location": {"other/secrets"}}
	if status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path, form); status != http.StatusSeeOther {
		t.Fatalf("%d %s", status, page)
	}
	want := git.Connection{OrgID: o.Org.ID, ID: "id", Kind: git.GitHub, Location: "acme/shop", PathPrefix: "mail", Installation: 8}
	if len(o.connected) != 1 || o.connected[0].Location != want.Location || o.connected[0].Installation != want.Installation || o.connected[0].PathPrefix != want.PathPrefix || o.connected[0].OrgID != want.OrgID || o.connected[0].Kind != want.Kind {
		t.Errorf("%+v, want %+v", o.connected, want)
	}
	if status, page := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path, form); status != http.StatusConflict {
		t.Errorf("again: %d %s", status, page)
	}
	events, err := o.db.Audit().FindAudit(t.Context(), o.Org.ID, access.AuditFilter{Limit: 9})
	if err != nil || len(events) != 1 || events[0].Action != "git.connected" {
		t.Errorf("%+v %v", events, err)
	}
	o.app.offers = nil
	o.compare(t, "nothing", o.get(t, url.Values{"code": {"good"}, "state": {o.state(t)}}, http.StatusOK))
}

// TestStates checks that a code is only exchanged for the session and the organization that asked, and
// for ten minutes.
func TestStates(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	state := o.state(t)
	until, _, _ := strings.Cut(state, ".")
	other := o.Site.Visitor
	other.Session.OrgID = core.NewID()
	later := strconv.FormatInt(o.now.Add(time.Hour).Unix(), 10)
	for name, wrong := range map[string]string{
		"none": "", "other organization": until + "." + other.FormToken("github state\x00"+until), "other time": later + state[len(until):],
		"token of a form": until + "." + frame.FormTo(o.Site.Visitor, pages.Path).Token, "no time": state[len(until):],
	} {
		if page := o.get(t, url.Values{"code": {"good"}, "state": {wrong}}, http.StatusForbidden); strings.Contains(page, "acme/shop") {
			t.Errorf("%s: %s", name, page)
		}
	}
	o.now = o.now.Add(10 * time.Minute)
	o.get(t, url.Values{"code": {"good"}, "state": {state}}, http.StatusForbidden)
	if len(o.app.codes) != 0 {
		t.Errorf("codes %v were exchanged", o.app.codes)
	}
	o.get(t, url.Values{"code": {"bad"}, "state": {o.state(t)}}, http.StatusForbidden)
	o.get(t, url.Values{"error": {"access_denied"}, "state": {o.state(t)}}, http.StatusForbidden)
	o.app.err = errors.New("no answer")
	if page := o.get(t, nil, http.StatusBadGateway); strings.Contains(page, "no answer") {
		t.Error(page)
	}
	o.app.err = &git.Refusal{Reason: "Ask the operator."}
	if page := o.get(t, nil, http.StatusBadGateway); !strings.Contains(page, "Ask the operator.") {
		t.Error(page)
	}
}

// TestOffers checks that a form can only choose what was offered to this session and organization.
func TestOffers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	page := o.get(t, url.Values{"code": {"good"}, "state": {o.state(t)}}, http.StatusOK)
	offer := html.UnescapeString(offerOf.FindStringSubmatch(page)[1])
	token, text, _ := strings.Cut(offer, " ")
	other := o.Site.Visitor
	other.Session.OrgID = core.NewID()
	for name, wrong := range map[string]string{
		"none": "", "other repository": strings.Replace(offer, "acme/shop", "other/secrets", 1), "other installation": token + " " + strings.Replace(text, " 8 ", " 9 ", 1),
		"other organization": other.FormToken("github offer\x00"+text) + " " + text, "no token": " " + text,
	} {
		if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path, url.Values{"offer": {wrong}}); status != http.StatusForbidden {
			t.Errorf("%s: %d", name, status)
		}
	}
	o.now = o.now.Add(30 * time.Minute)
	if status, _ := frametest.Post(t, o.pages, o.Site.Visitor, pages.Path, url.Values{"offer": {offer}}); status != http.StatusForbidden {
		t.Errorf("late: %d", status)
	}
	if len(o.connected) != 0 {
		t.Errorf("%+v", o.connected)
	}
	o.Allow(members.MayManageCredentials)
	if status, _ := frametest.Get(t, o.pages, pages.Path); status != http.StatusForbidden {
		t.Errorf("without the permission: %d", status)
	}
}

// TestWithoutApp checks the page of a server without an app.
func TestWithoutApp(t *testing.T) {
	t.Parallel()
	o := frametest.NewOffice(t, frametest.DatabaseOf(storagetest.SQLite(t)))
	room, err := pages.New(o.Frame, pages.Config{Off: true, Clock: time.Now, Then: frame.Path + "/git"})
	o.Must(err)
	if status, page := frametest.Get(t, o.Open(room), pages.Path); status != http.StatusNotFound || !strings.Contains(page, "no app on GitHub") {
		t.Errorf("%d %s", status, page)
	}
}
