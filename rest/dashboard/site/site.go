package site

import (
	"context"
	"embed"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/rest/beacon/script"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the page.
const Path = frame.Path + "/website"

// title is the title of the page.
const title = "Website"

// Config configures the page. All fields are required.
type Config struct {
	Settings site.Settings
	// Changed makes this process apply a change at once. It is called after the transaction.
	Changed func(ctx context.Context)
	// APIURL is the base URL of the API.
	APIURL string
}

// Room has the page about the website; see dashboard.Room.
type Room struct {
	cfg Config
	*frame.Pages
}

// New returns the page of this package. It fails if the template of the page cannot be read.
func New(f *frame.Frame, cfg Config) (*Room, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Room{cfg, own}, nil
}

// changes are the forms of the page, by the last element of their path.
var changes = []struct {
	path, action string // action is the entry in the audit log
	run          func(s site.Settings, ctx context.Context, orgID string) error
}{
	{"create", "site_key.created", func(s site.Settings, ctx context.Context, orgID string) error {
		_, err := s.Create(ctx, orgID)
		return err
	}},
	{"rotate", "site_key.rotated", func(s site.Settings, ctx context.Context, orgID string) error {
		_, err := s.Rotate(ctx, orgID)
		return err
	}},
	{"off", "site.turned_off", site.Settings.TurnOff},
	{"on", "site.turned_on", site.Settings.TurnOn},
}

// notices are the messages that the page shows after a change.
var notices = frame.Notices{
	"create": "The site key is created. Put the tag into your pages.",
	"rotate": "The site key is rotated. The earlier key works for 24 hours; replace it in your pages until then.",
	"off":    "Beacons are turned off. Browsers get the status 404.",
	"on":     "Beacons are turned on.",
}

// Routes returns the routes of the page.
func (h *Room) Routes() []frame.Route {
	manage := members.MayManageCredentials
	routes := []frame.Route{{Path: "/website", Needs: manage, Get: h.show}}
	for _, c := range changes {
		routes = append(routes, frame.Route{Path: "/website/" + c.path, Needs: manage, Post: h.change(c.path, c.action, c.run)})
	}
	return routes
}

// change returns the handler of a form. It makes the change with its entry in the audit log
// and redirects to the page.
func (h *Room) change(path, action string, run func(site.Settings, context.Context, string) error) frame.Handler {
	return func(w http.ResponseWriter, r *http.Request, v people.Visitor) {
		err := h.TransactorWith(v, members.MayManageCredentials).InTx(r.Context(), func(ctx context.Context) error {
			if err := run(h.cfg.Settings, ctx, v.Org.ID); err != nil {
				return err
			}
			return h.Record(ctx, v, action, v.Org.ID, map[string]any{})
		})
		switch {
		case core.IsConflict(err):
			h.Refuse(w, r, v, core.AsError(err).HTTPStatus(), "The site key was not changed", frame.TextOf(err))
			return
		case err != nil:
			h.Fail(w, r, v, err)
			return
		}
		h.cfg.Changed(r.Context())
		frame.RedirectWithNotice(w, Path, path)
	}
}

// sitePage is the data of the page. Key is "" before the first key.
type sitePage struct {
	Key                  string
	Off                  bool
	Created              frame.When
	Earlier              []earlierKey
	Create, Rotate, Turn frame.Form
	Tag                  string
	Servers              []script.Server
	Guide                *frame.Link
	Stored, Repeated     string
	LastActivity         frame.When
	Refused              []refusedRow
	Names                []nameRow
}

// earlierKey is a key in its grace period.
type earlierKey struct {
	Value string
	Until frame.When
}

// refusedRow says why beacons did not become activities.
type refusedRow struct {
	Reason, Beacons string
	Last            frame.When
}

// nameRow is a refused name of events, "" for names beyond the limit.
type nameRow struct {
	Name, Beacons string
	Last          frame.When
}

// reasons are the reasons that the page shows, in order.
var reasons = []struct {
	outcome site.Outcome
	text    string
}{
	{site.BadName, "The name of the event is not allowed"},
	{site.UnknownVisitor, "The visitor id is unknown or revoked"},
	{site.LimitedVisitor, "More than 60 events of a visitor in a minute"},
	{site.QueueFull, "Too many beacons at the same time"},
	{site.Failed, "The database did not take them for ten minutes"},
}

// show shows the page.
func (h *Room) show(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	state, err := h.cfg.Settings.Of(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	counts, err := h.cfg.Settings.Health(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := sitePage{
		Guide: h.Guide("/guides/website-visitors", "Link website visits to contacts"), Servers: script.Servers(h.cfg.APIURL),
		Off: state.Off, Create: frame.FormTo(v, Path+"/create"), Rotate: frame.FormTo(v, Path+"/rotate"), Turn: frame.FormTo(v, Path+"/off"),
	}
	if state.Off {
		data.Turn = frame.FormTo(v, Path+"/on")
	}
	for i, k := range state.Keys {
		if i == 0 && k.ExpiresAt == nil {
			data.Key, data.Created, data.Tag = k.Value, h.When(k.CreatedAt), script.Tag(h.cfg.APIURL, k.Value)
			continue
		}
		data.Earlier = append(data.Earlier, earlierKey{k.Value, h.When(*k.ExpiresAt)})
	}
	h.addHealth(&data, counts)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "site", Title: title, Notice: notices.NoticeOf(r), Data: data, Head: frame.Head{
		Title: title, Lead: "Link visits of your website to contacts.",
	}})
}

// addHealth adds the counts to the data of the page.
func (h *Room) addHealth(data *sitePage, counts []site.Count) {
	sums := map[site.Outcome]site.Count{}
	for _, c := range counts {
		sum := sums[c.Outcome]
		sum.Beacons += c.Beacons
		if c.LastAt.After(sum.LastAt) {
			sum.LastAt = c.LastAt
		}
		sums[c.Outcome] = sum
		if c.Outcome == site.BadName {
			data.Names = append(data.Names, nameRow{c.Name, core.WithCommas(c.Beacons), h.When(c.LastAt)})
		}
	}
	written := sums[site.Written]
	data.Stored, data.Repeated = frame.Quantity(written.Beacons, "activity", "activities"), frame.Quantity(sums[site.Duplicate].Beacons, "repeated beacon", "repeated beacons")
	data.LastActivity = h.When(written.LastAt)
	for _, reason := range reasons {
		if c := sums[reason.outcome]; c.Beacons > 0 {
			data.Refused = append(data.Refused, refusedRow{reason.text, core.WithCommas(c.Beacons), h.When(c.LastAt)})
		}
	}
}
