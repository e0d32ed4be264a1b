package github

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the page. It is the callback URL and the setup URL of the app on GitHub.
const Path = frame.Path + "/git/github"

const title = "Connect a repository on GitHub"

// How long a state and an offer are valid.
const (
	stateTime = 10 * time.Minute
	offerTime = 30 * time.Minute
)

// App is the app on GitHub.
type App interface {
	// AuthorizeURL returns the page of GitHub on which people confirm who they are. GitHub leads
	// the browser back to redirect with a code and the state.
	AuthorizeURL(ctx context.Context, redirect, state string) (string, error)
	// InstallURL returns the page of GitHub on which people install the app.
	InstallURL(ctx context.Context) (string, error)
	// Offers returns the repositories that the person behind a code may connect. It fails with a
	// *git.Refusal for an invalid code.
	Offers(ctx context.Context, redirect, code string) ([]git.Offer, error)
}

// Config configures the page. All fields are required, except for Off and Then, and for App if Off is
// true.
type Config struct {
	App App
	// Off is true if the server has no app.
	Off bool
	// Connect stores a connection; see git.Settings. It takes part in the transaction.
	Connect func(ctx context.Context, c git.Connection) (git.Connection, error)
	// AppURL is the base URL of the dashboard's host.
	AppURL string
	// Then is the path of the page about the connection; "" means this page.
	Then  string
	Clock core.Clock
	Log   *slog.Logger
}

// Room has the page; see dashboard.Room.
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
	cfg.Then = cmp.Or(cfg.Then, Path)
	return &Room{cfg, own}, nil
}

// Routes returns the routes of the page.
func (h *Room) Routes() []frame.Route {
	return []frame.Route{{Path: "/git/github", Needs: members.MayManageOrg, Get: h.show, Post: h.connect}}
}

// page is the data of the page: links to GitHub, or a form with repositories.
type page struct {
	Authorize, Install string
	Form               frame.Form
	Offers             []frame.Option
}

// notices are the messages that the page shows after a change.
var notices = frame.Notices{"connected": "The repository is connected. It is read within seconds."}

// show shows the links to GitHub, or the repositories if GitHub sent the browser.
func (h *Room) show(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.cfg.Off {
		h.Refuse(w, r, v, http.StatusNotFound, "This server has no app on GitHub", "The operator of the server sets it up. Until then, connect the repository by its https address.")
		return
	}
	// All definitions of the organization come from the repository, so the visitor confirms who
	// they are here too.
	if !h.Confirm(w, r, v, Path) {
		return
	}
	query := r.URL.Query()
	switch {
	case query.Get("error") != "":
		h.start(w, r, v, http.StatusForbidden, "GitHub did not confirm who you are. Try it again.")
	case query.Get("code") == "":
		h.start(w, r, v, http.StatusOK, "")
	case !h.isState(v, query.Get("state")):
		h.start(w, r, v, http.StatusForbidden, "This answer of GitHub does not belong to this session, or is older than ten minutes. Try it again.")
	default:
		offers, err := h.cfg.App.Offers(r.Context(), h.redirect(), query.Get("code"))
		if refusal, ok := errors.AsType[*git.Refusal](err); ok {
			h.start(w, r, v, http.StatusForbidden, refusal.Reason)
			return
		}
		if err != nil {
			h.unavailable(w, r, v, err)
			return
		}
		h.choose(w, r, v, offers)
	}
}

// unavailable shows that GitHub gives no answer now.
func (h *Room) unavailable(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	if refusal, ok := errors.AsType[*git.Refusal](err); ok {
		h.Refuse(w, r, v, http.StatusBadGateway, "GitHub refuses the app of this server", refusal.Reason)
		return
	}
	h.cfg.Log.WarnContext(r.Context(), "GitHub does not answer", slog.Any("cause", err))
	h.Refuse(w, r, v, http.StatusBadGateway, "GitHub does not answer", "Try it again in a minute.")
}

// start shows the links to GitHub.
func (h *Room) start(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, problem string) {
	install, err := h.cfg.App.InstallURL(r.Context())
	if err != nil {
		h.unavailable(w, r, v, err)
		return
	}
	authorize, err := h.cfg.App.AuthorizeURL(r.Context(), h.redirect(), h.newState(v))
	if err != nil {
		h.unavailable(w, r, v, err)
		return
	}
	h.screen(w, r, v, status, problem, page{Authorize: authorize, Install: install})
}

// choose shows the form with the repositories.
func (h *Room) choose(w http.ResponseWriter, r *http.Request, v people.Visitor, offers []git.Offer) {
	install, err := h.cfg.App.InstallURL(r.Context())
	if err != nil {
		h.unavailable(w, r, v, err)
		return
	}
	data := page{Install: install, Form: frame.FormTo(v, Path)}
	for _, o := range offers {
		data.Offers = append(data.Offers, frame.Option{Value: h.signOffer(v, o), Name: o.Location})
	}
	h.screen(w, r, v, http.StatusOK, "", data)
}

func (h *Room) screen(w http.ResponseWriter, r *http.Request, v people.Visitor, status int, problem string, data page) {
	h.Show(w, r, v, status, frame.Screen{Page: "github", Title: title, Notice: notices.NoticeOf(r), Problem: problem, Data: data, Head: frame.Head{
		Title: title, Lead: "Keep the definitions of this organization in a repository.",
	}})
}

// connect connects a repository that was offered.
func (h *Room) connect(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if h.cfg.Off {
		h.NoSuchPage(w, r, v)
		return
	}
	if !h.Confirm(w, r, v, Path) {
		return
	}
	offer, ok := h.readOffer(v, r.PostForm.Get("offer"))
	if !ok {
		h.Refuse(w, r, v, http.StatusForbidden, "The repository was not connected", "The choice is older than 30 minutes or belongs to another session. Go back to the page and confirm on GitHub again.")
		return
	}
	c := git.Connection{OrgID: v.Org.ID, Kind: git.GitHub, Location: offer.Location, Installation: offer.Installation, PathPrefix: r.PostForm.Get("path_prefix")}
	err := h.TransactorWith(v, members.MayManageOrg).InTx(r.Context(), func(ctx context.Context) error {
		stored, err := h.cfg.Connect(ctx, c)
		if err != nil {
			return err
		}
		return h.Record(ctx, v, "git.connected", stored.ID, map[string]any{"kind": string(stored.Kind), "location": stored.Location, "path_prefix": stored.PathPrefix})
	})
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, h.cfg.Then, "connected")
}

// redirect returns the address to which GitHub leads the browser back.
func (h *Room) redirect() string { return strings.TrimRight(h.cfg.AppURL, "/") + Path }

// newState returns a state that is valid for this session, its organization and ten minutes.
func (h *Room) newState(v people.Visitor) string {
	until := strconv.FormatInt(h.cfg.Clock().Add(stateTime).Unix(), 10)
	return until + "." + v.FormToken("github state\x00"+until)
}

// isState reports whether a state is valid.
func (h *Room) isState(v people.Visitor, state string) bool {
	until, token, _ := strings.Cut(state, ".")
	return h.isFuture(until) && v.FormTokenMatches(token, "github state\x00"+until)
}

func (h *Room) isFuture(until string) bool {
	seconds, err := strconv.ParseInt(until, 10, 64)
	return err == nil && h.cfg.Clock().Unix() < seconds
}

// signOffer returns an offer as the value of a field. It is valid for this session, its organization
// and 30 minutes.
func (h *Room) signOffer(v people.Visitor, o git.Offer) string {
	text := strconv.FormatInt(h.cfg.Clock().Add(offerTime).Unix(), 10) + " " + strconv.FormatInt(o.Installation, 10) + " " + o.Location
	return v.FormToken("github offer\x00"+text) + " " + text
}

// readOffer returns the offer of a field.
func (h *Room) readOffer(v people.Visitor, value string) (git.Offer, bool) {
	token, text, _ := strings.Cut(value, " ")
	if !v.FormTokenMatches(token, "github offer\x00"+text) {
		return git.Offer{}, false
	}
	const fields = 3
	parts := strings.SplitN(text, " ", fields)
	if len(parts) != fields || !h.isFuture(parts[0]) {
		return git.Offer{}, false
	}
	installation, err := strconv.ParseInt(parts[1], 10, 64)
	return git.Offer{Installation: installation, Location: parts[2]}, err == nil
}
