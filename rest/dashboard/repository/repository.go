package repository

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the page.
const Path = frame.Path + "/git"

// title is the title of the page.
const title = "Repository"

// maxProposals is the number of proposals that the page shows.
const maxProposals = 20

// Config configures the page.
type Config struct {
	Settings git.Settings
	// Definitions returns the definitions that are not in the repository and can be put there, and
	// those of the repository that can be adopted.
	Definitions func(ctx context.Context, orgID string) (managed []core.RepositoryDefinition, adoptable []definitions.Ref, err error)
	// Promote proposes to put a definition into the repository; see git.Proposals.
	Promote func(ctx context.Context, orgID string, d core.RepositoryDefinition) (core.PullRequest, error)
	// GitHub is the path of the page that connects a repository on GitHub, "" if there is none.
	GitHub string
}

// Room has the page about the repository; see dashboard.Room.
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

// Routes returns the routes of the page.
func (h *Room) Routes() []frame.Route {
	manage := members.MayManageOrg
	return []frame.Route{
		{Path: "/git", Needs: manage, Get: h.showRepository, Post: h.connect},
		{Path: "/git/sync", Needs: manage, Post: h.sync},
		{Path: "/git/promote", Needs: manage, Post: h.promote},
		{Path: "/git/adopt", Needs: manage, Post: h.adopt},
		{Path: "/git/return", Needs: manage, Post: h.giveBack},
		{Path: "/git/disconnect", Needs: manage, Post: h.disconnect},
	}
}

// notices are the messages that the page shows after a change.
var notices = frame.Notices{
	"connected":    "The repository is connected. It is read in the background; reload this page in some seconds.",
	"sync":         "The repository is read in the background. Reload this page in some seconds.",
	"promoted":     "The definition is proposed on a branch. Review and merge it.",
	"adopted":      "The definition is adopted. Edit it here; syncs leave it out.",
	"returned":     "The definition is returned. The next sync replaces it with that of the repository; reload this page in some seconds.",
	"disconnected": "The repository is disconnected. Its definitions stay, and can be changed here again.",
}

// labels has the words that name the fields of the form in the text of a refusal.
var labels = frame.Labels{"kind": "The kind", "location": "The address", "path_prefix": "The folder", "secret": "The password"}

// page is the data of the page.
type page struct {
	Connect, Sync, Disconnect, Promote, Adopt, Return frame.Form
	// Managed are the choices of the form that proposes a definition, and Adoptable those of the form
	// that adopts one.
	Managed, Adoptable []frame.Option
	Adopted            []adopted
	// GitHub is the path of the page for GitHub, "" for none.
	GitHub string
	// Location is "" without a connection.
	Location, Prefix, Branch, Commit string
	Read, Connected                  frame.When
	State, Class, Failure            string
	Faults                           []fault
	Proposals                        []proposal
	// Kinds are the choices of the form, and Typed has its values without the secret.
	Kinds []frame.Option
	Typed git.Connection
	ID    string
}

// fault is a diagnostic of the last sync.
type fault struct{ Place, Message, Words, Class string }

// proposal is a change on a branch.
type proposal struct {
	Title, Branch, URL, Words, Class string
	Made                             frame.When
}

// adopted is an adopted definition.
type adopted struct {
	Kind, Noun, Key string
	At              frame.When
}

// showRepository shows the connection, or the form that makes one.
func (h *Room) showRepository(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.form(w, r, v, git.Connection{Kind: git.Remote}, nil)
}

// form writes the page. typed has the values of the form, and refused its error.
func (h *Room) form(w http.ResponseWriter, r *http.Request, v people.Visitor, typed git.Connection, refused error) {
	problem, status := labels.Correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	c, connected, err := h.cfg.Settings.Of(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	typed.Secret = ""
	data := page{
		Connect: frame.FormTo(v, Path), Sync: frame.FormTo(v, Path+"/sync"), Disconnect: frame.FormTo(v, Path+"/disconnect"), Promote: frame.FormTo(v, Path+"/promote"),
		Adopt: frame.FormTo(v, Path+"/adopt"), Return: frame.FormTo(v, Path+"/return"), GitHub: h.cfg.GitHub, Typed: typed, Kinds: h.kinds(typed.Kind),
	}
	if connected {
		if err := h.describe(r.Context(), &data, c); err != nil {
			h.Fail(w, r, v, err)
			return
		}
	}
	h.Show(w, r, v, status, frame.Screen{Page: "repository", Title: title, Notice: notices.NoticeOf(r), Problem: problem, Data: data, Head: frame.Head{
		Title: title, Lead: "Keep the definitions of this organization in Git.",
	}})
}

// kinds returns the kinds of repositories that the form can connect.
func (h *Room) kinds(chosen git.Kind) []frame.Option {
	var options []frame.Option
	for _, o := range []frame.Option{{Value: string(git.Remote), Name: "On another server, by https"}, {Value: string(git.Local), Name: "In a folder of this server"}} {
		if slices.Contains(h.cfg.Settings.Kinds, git.Kind(o.Value)) {
			options = append(options, o)
		}
	}
	return frame.ChooseOption(options, string(chosen))
}

// states are the words and the mark of each state.
var states = map[git.State][2]string{git.Waiting: {"not read yet", ""}, git.Synced: {"synced", "live"}, git.Failed: {"failed", "ended"}}

// describe adds the connection to the data of the page.
func (h *Room) describe(ctx context.Context, data *page, c git.Connection) error {
	data.ID, data.Location, data.Prefix, data.Failure = c.ID, c.Location, c.PathPrefix, c.Failure
	data.State, data.Class = states[c.State][0], states[c.State][1]
	data.Connected, data.Branch = h.When(c.CreatedAt), c.Revision.Branch
	data.Commit = c.Revision.Commit[:min(len(c.Revision.Commit), 10)]
	if !c.ReadAt.IsZero() {
		data.Read = h.When(c.ReadAt)
	}
	for _, d := range c.Diagnostics {
		data.Faults = append(data.Faults, faultOf(d))
	}
	managed, adoptable, err := h.cfg.Definitions(ctx, c.OrgID)
	if err != nil {
		return err
	}
	for _, d := range managed {
		data.Managed = append(data.Managed, frame.Option{Value: d.Kind + " " + d.Key, Name: d.Kind + " " + d.Key})
	}
	if err := h.describeAdoptions(ctx, data, c.OrgID, adoptable); err != nil {
		return err
	}
	proposals, err := h.cfg.Settings.Store.Proposals(ctx, c.OrgID, maxProposals)
	for _, p := range proposals {
		shown := proposal{Title: p.Title, Branch: p.Branch, URL: p.URL, Words: string(p.State), Made: h.When(p.CreatedAt)}
		switch p.State {
		case git.Open:
			shown.Words, shown.Class = "awaits review", "live"
		case git.Closed:
			shown.Class = "sent"
		case git.Merged:
			shown.Class = "opened"
		}
		data.Proposals = append(data.Proposals, shown)
	}
	return err
}

// faultOf returns a diagnostic as a row.
func faultOf(d definitions.Diagnostic) fault {
	f := fault{Place: d.Path, Message: d.Message, Words: string(d.Severity)}
	if d.Severity == definitions.Error {
		f.Class = "ended"
	}
	if d.Line > 0 {
		f.Place = fmt.Sprintf("%s:%s:%s", d.Path, strconv.Itoa(d.Line), strconv.Itoa(d.Column))
	}
	return f
}

// connect connects the repository of a sent form.
func (h *Room) connect(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	// All definitions of the organization come from the repository, so the visitor confirms who
	// they are.
	if !h.Confirm(w, r, v, Path) {
		return
	}
	get := r.PostForm.Get
	typed := git.Connection{
		OrgID: v.Org.ID, Kind: git.Kind(get("kind")), Location: get("location"), PathPrefix: get("path_prefix"), Username: get("username"), Secret: get("secret"),
	}
	if typed.Kind == git.GitHub {
		typed.Kind = "" // its page proves that the visitor may connect the repository
	}
	err := h.change(r, v, "git.connected", func(ctx context.Context) (map[string]any, error) {
		c, err := h.cfg.Settings.Connect(ctx, typed)
		return map[string]any{"kind": string(c.Kind), "location": c.Location, "path_prefix": c.PathPrefix, "has_secret": c.Secret != ""}, err
	})
	if err != nil {
		h.form(w, r, v, typed, err)
		return
	}
	frame.RedirectWithNotice(w, Path, "connected")
}

// sync requests a sync.
func (h *Room) sync(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.finish(w, r, v, "sync", h.change(r, v, "git.sync_requested", func(ctx context.Context) (map[string]any, error) {
		return nil, h.cfg.Settings.RequestSync(ctx, v.Org.ID)
	}))
}

// promote proposes to put a definition into the repository.
func (h *Room) promote(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	managed, _, err := h.cfg.Definitions(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	chosen := r.PostForm.Get("definition")
	at := slices.IndexFunc(managed, func(d core.RepositoryDefinition) bool { return d.Kind+" "+d.Key == chosen })
	if at < 0 {
		h.Refuse(w, r, v, http.StatusConflict, "The definition was not proposed", "It is in the repository already, or was archived. Open the page again.")
		return
	}
	if _, err := h.cfg.Promote(r.Context(), v.Org.ID, managed[at]); core.IsConflict(err) {
		h.Refuse(w, r, v, http.StatusConflict, "The definition was not proposed", frame.TextOf(err))
		return
	} else if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	h.finish(w, r, v, "promoted", h.change(r, v, "git.promoted", func(context.Context) (map[string]any, error) {
		return map[string]any{"kind": managed[at].Kind, "key": managed[at].Key}, nil
	}))
}

// disconnect ends the connection that the page showed.
func (h *Room) disconnect(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.finish(w, r, v, "disconnected", h.change(r, v, "git.disconnected", func(ctx context.Context) (map[string]any, error) {
		return nil, h.cfg.Settings.Disconnect(ctx, v.Org.ID, r.PostForm.Get("id"))
	}))
}

// change makes a change with its entry in the audit log.
func (h *Room) change(r *http.Request, v people.Visitor, action string, do func(ctx context.Context) (map[string]any, error)) error {
	return h.TransactorWith(v, members.MayManageOrg).InTx(r.Context(), func(ctx context.Context) error {
		detail, err := do(ctx)
		if err != nil {
			return err
		}
		return h.Record(ctx, v, action, v.Org.ID, detail)
	})
}

// finish redirects to the page after a change, or shows why there was none.
func (h *Room) finish(w http.ResponseWriter, r *http.Request, v people.Visitor, notice string, err error) {
	switch {
	case core.IsNotFound(err):
		h.Refuse(w, r, v, http.StatusConflict, "The repository was not changed", "It was disconnected in the meantime. Open the page again.")
	case err != nil:
		h.Fail(w, r, v, err)
	default:
		frame.RedirectWithNotice(w, Path, notice)
	}
}
