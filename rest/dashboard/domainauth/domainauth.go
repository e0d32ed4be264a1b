package domainauth

import (
	"context"
	"embed"
	"net/http"
	"net/url"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	mails "github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// ListPath is the path of the list of domains. The pages of a domain are below it.
const ListPath = frame.Path + "/domain-auth"

// The pages of the documentation about DMARC.
const (
	guide        = "/guides/none-to-reject"
	reportsGuide = "/guides/dmarc-reports"
)

// Store reads what no operation returns.
type Store interface {
	// Domain returns the domain with a name.
	Domain(ctx context.Context, orgID, name string) (domainauth.Domain, error)
	// Domains returns at most limit domains in the order of their names, after a name.
	Domains(ctx context.Context, orgID, after string, limit int) ([]domainauth.Domain, error)
	// Event returns the event with an id.
	Event(ctx context.Context, orgID, domainID, id string) (domainauth.Event, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Store Store
	// Arrivals has the files that were received, and decisions about reporters.
	Arrivals arrivals.DeskStore
	// Subscriptions has what members are mailed about domains.
	Subscriptions mails.SubscriptionStore
}

// Room has the pages about domain authentication; see dashboard.Room.
type Room struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Room, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Room{cfg, pages}, nil
}

// The page handlers, grouped by what their pages show. Each has the fields and methods of Room.
type (
	sourcePages    struct{ *Room }
	readinessPages struct{ *Room }
	timelinePages  struct{ *Room }
	setupPages     struct{ *Room }
	receivedPages  struct{ *Room }
)

// Routes returns the routes of the pages.
func (h *Room) Routes() []frame.Route {
	view, manage := members.MayViewDomainAuth, members.MayManageDomainAuth
	source, ready, events, setup, received := sourcePages{h}, readinessPages{h}, timelinePages{h}, setupPages{h}, receivedPages{h}
	return []frame.Route{
		{Path: "/domain-auth", Needs: view, Get: h.showDomains},
		{Path: "/domain-auth/received", Needs: view, Get: received.showReceived},
		{Path: "/domain-auth/received/decide", Needs: manage, Post: received.decide},
		{Path: "/domain-auth/{domain}", Needs: view, Get: h.showOverview},
		{Path: "/domain-auth/{domain}/sources", Needs: view, Get: source.showSources},
		{Path: "/domain-auth/{domain}/sources/{source}/decide", Needs: manage, Post: source.decide},
		{Path: "/domain-auth/{domain}/policy", Needs: view, Get: ready.showReadiness},
		{Path: "/domain-auth/{domain}/policy/acknowledge", Needs: manage, Post: ready.acknowledge},
		{Path: "/domain-auth/{domain}/timeline", Needs: view, Get: events.showTimeline},
		{Path: "/domain-auth/{domain}/timeline/notes", Needs: manage, Post: events.createNote},
		{Path: "/domain-auth/{domain}/timeline/{event}", Needs: view, Get: events.showComparison},
		{Path: "/domain-auth/{domain}/setup", Needs: view, Get: setup.showSetup},
		{Path: "/domain-auth/{domain}/mails", Needs: view, Post: setup.chooseMails},
		{Path: "/domain-auth/{domain}/remeasure", Needs: manage, Post: setup.remeasure},
	}
}

// notices are the messages that the pages show after a change, by their name in the address.
var notices = frame.Notices{
	"confirmed":         "The source is confirmed: you want its mail delivered.",
	"rejected":          "The source is rejected: it must not send for you. Its mail is stopped only by a stricter policy.",
	"unreviewed":        "The decision is taken back.",
	"acknowledged":      "You accepted the cost of this step. The record to publish is below.",
	"noted":             "The note is in the timeline.",
	"queued":            "The records are read again within about a minute. Reload the page then.",
	"reporter_accepted": "The reporter is accepted. Its held files are read within a minute, and later ones count.",
	"reporter_rejected": "The reporter is rejected. Its mailed files are held.",
	"mails_chosen":      "Your choice is stored. It is about mails to you only.",
	"early":             "The records were read again less than an hour ago. Nothing was queued.",
}

// domainPath returns the path of the page of a domain.
func domainPath(domain string) string { return ListPath + "/" + url.PathEscape(domain) }

// named returns the arguments of an operation about the domain of the request's path.
func named(r *http.Request) map[string]any { return map[string]any{"domain": r.PathValue("domain")} }

// mark is a word with its color.
type mark struct{ Name, Class string }

// tab is a link to a page of a domain.
type tab struct {
	Path, Name string
	Current    bool
	Count      int
}

// domainHead is what all pages of a domain show at their top.
type domainHead struct {
	Domain string
	Path   string
	Tabs   []tab
	Ladder ladder
}

// The tabs of a domain, by the last parts of their paths.
const (
	tabOverview = ""
	tabSources  = "/sources"
	tabPolicy   = "/policy"
	tabTimeline = "/timeline"
	tabSetup    = "/setup"
)

// newDomainHead returns the head of a page of a domain, with the current tab marked.
func newDomainHead(p domainauth.Posture, current string) domainHead {
	head := domainHead{Domain: p.Domain, Path: domainPath(p.Domain), Ladder: ladderOf(p)}
	for _, t := range []tab{
		{Path: tabOverview, Name: "Overview"},
		{Path: tabSources, Name: "Sources", Count: p.SourceCounts.Unreviewed},
		{Path: tabPolicy, Name: "Next policy"},
		{Path: tabTimeline, Name: "Timeline"},
		{Path: tabSetup, Name: "Records"},
	} {
		t.Current = t.Path == current
		t.Path = head.Path + t.Path
		head.Tabs = append(head.Tabs, t)
	}
	return head
}

// postureOf reads the domain of the path. If it returns false, it has written the response.
func (h *Room) postureOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (domainauth.PostureDetail, bool) {
	var p domainauth.PostureDetail
	if err := h.Read(r, v, "domain_auth_domains_get", named(r), &p); err != nil {
		h.Fail(w, r, v, err)
		return p, false
	}
	return p, true
}

// show writes a page of a domain.
func (h *Room) show(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, domain string, s frame.Screen) {
	if s.Head.Title = s.Title; s.Title != domain {
		s.Title += ", " + domain
		s.Head.Parents = append([]frame.Link{{Path: domainPath(domain), Name: domain}}, s.Head.Parents...)
	}
	s.Notice = notices.NoticeOf(r)
	if s.Problem != "" {
		s.Notice = ""
	}
	h.Show(w, r, v, status, s)
}

// labels has, for each form field, the words that name it in the error text of a refused form.
var labels = frame.Labels{
	"note": "The note", "occurred_at": "The day", "target_policy": "The policy", "window_days": "The number of days", "decision": "The decision",
	"classification": "The kind", "kind": "The kind of event",
}

// mayManage reports whether the visitor may decide about sources, accept costs, write notes and
// ask for a measurement.
func mayManage(v people.Visitor) bool { return v.Member.Has(members.MayManageDomainAuth) }

// percentage formats a share that may be unknown.
func percentage(share *float64) string {
	if share == nil {
		return "–"
	}
	return frame.ShortPercentage(*share)
}

// plain returns a text of an outsider without invisible characters, "" for nil.
func plain(text *string) string {
	if text == nil {
		return ""
	}
	return core.OnlyVisible(*text)
}
