package developers

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// clientNotices are the messages that the pages of clients show after a change, by name.
var clientNotices = frame.Notices{
	"edited":    "The application is changed. The change applies from the next request on.",
	"revoked":   "The application is revoked. Its tokens are refused, and the access that people granted to it has ended.",
	"blocked":   "The application is blocked. The access that members granted to it has ended, and they cannot grant it again.",
	"unblocked": "The application is unblocked. Earlier grants stay revoked: ask members to grant access again.",
}

// clientRow is the data of an OAuth client in lists and on its own page.
type clientRow struct {
	Path, Name, ClientID string
	Environment          core.Environment
	Public               bool
	Scopes               int
	Redirects            []string
	Lifetime             string
	Created              string
	Ended                string // the day on which the client was revoked; "" for an active client
}

// newClientRow returns the data of a client for the pages. It removes invisible characters
// from the name; see frame.PlainName.
func newClientRow(c access.Client) clientRow {
	row := clientRow{
		Path: ClientsPath + "/" + c.ID, Name: frame.PlainName(c.Name), ClientID: c.ClientID, Environment: c.Environment,
		Public: c.SecretHash == nil, Scopes: len(c.Scopes), Redirects: c.RedirectURIs, Lifetime: "never ends",
		Created: c.CreatedAt.UTC().Format(frame.DateLayout),
	}
	if c.RefreshDays > 0 {
		row.Lifetime = fmt.Sprintf("%d days", c.RefreshDays)
	}
	if c.RevokedAt != nil {
		row.Ended = c.RevokedAt.UTC().Format(frame.DateLayout)
	}
	return row
}

// clientList is the data of the page that lists the OAuth clients.
type clientList struct {
	// Working has the active clients, and Over has the revoked clients.
	Working, Over []clientRow
	Blocked       []blockedRow
	Block         frame.Form
	BlockID       string // the client id that was to be blocked and was refused, or ""
}

// showClients shows the page with the organization's clients and the clients that it
// blocks.
func (h clientHandlers) showClients(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.clientList(w, r, v, "", nil)
}

// clientList writes the page of all clients. If refused is not nil, the page shows the
// client id that could not be blocked (typed) and the reason.
func (h clientHandlers) clientList(w http.ResponseWriter, r *http.Request, v people.Visitor, typed string, refused *core.Error) {
	clients, err := h.Clients.ClientsOf(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, fmt.Errorf("clients: %w", err))
		return
	}
	data := clientList{Block: frame.FormTo(v, blockPath), BlockID: typed}
	for _, c := range clients {
		if row := newClientRow(c); row.Ended == "" {
			data.Working = append(data.Working, row)
		} else {
			data.Over = append(data.Over, row)
		}
	}
	if data.Blocked, err = h.blockedRows(r, v); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	shown, status := frame.Screen{Page: "clients", Title: "Applications", Notice: clientNotices.NoticeOf(r), Data: data, Head: frame.Head{
		Count: strconv.Itoa(len(data.Working)), Actions: []frame.Action{{Path: ClientsPath + "/new", Name: "Register application", Primary: true}},
		Lead: "Applications that ask people for access with OAuth, or get tokens for themselves with a secret. Assistants that use MCP need no registration.",
	}}, http.StatusOK
	if refused != nil {
		shown.Problem, status = refused.Message+" "+refused.NextStep(), refused.HTTPStatus()
	}
	h.Show(w, r, v, status, shown)
}

// clientPage is the data of the page of one OAuth client.
type clientPage struct {
	Client clientRow
	// Scopes has the scopes that the client may request.
	Scopes []scopeChoice
}

// clientHead returns the buttons of the page of one client.
func clientHead(row clientRow) frame.Head {
	if row.Ended != "" {
		return frame.Head{}
	}
	actions := []frame.Action{{Path: row.Path + "/edit", Name: "Edit application"}}
	if !row.Public {
		actions = append(actions, frame.Action{Path: row.Path + "/secret", Name: "Rotate secret"})
	}
	return frame.Head{Actions: append(actions, frame.Action{Path: row.Path + "/revoke", Name: "Revoke application", Danger: true})}
}

// underClient returns the head of a page about a change of a client.
func underClient(row clientRow) frame.Head {
	return frame.Head{Parents: []frame.Link{{Path: row.Path, Name: row.Name}}}
}

// showClient shows the page of one OAuth client.
func (h clientHandlers) showClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	c, ok := h.clientOf(w, r, v)
	if !ok {
		return
	}
	row := newClientRow(c)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "client", Title: row.Name, Head: clientHead(row), Notice: clientNotices.NoticeOf(r), Data: clientPage{
		Client: row, Scopes: scopeRows(c.Scopes),
	}})
}

// clientOf returns the client whose id is in the path. If it returns false, it has written
// the response: a page of status 404 or an error.
func (h clientHandlers) clientOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (access.Client, bool) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		h.NoSuchPage(w, r, v)
		return access.Client{}, false
	}
	c, err := h.Clients.ClientByID(r.Context(), v.Org.ID, id)
	if err != nil {
		h.Fail(w, r, v, err)
		return access.Client{}, false
	}
	return c, true
}

// workingClientOf returns the active client whose id is in the path. If it returns false,
// it has written the response: a refusal of a revoked client, a page of status 404, or an
// error.
func (h clientHandlers) workingClientOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (access.Client, bool) {
	c, ok := h.clientOf(w, r, v)
	if !ok {
		return access.Client{}, false
	}
	if c.RevokedAt != nil {
		h.Refuse(w, r, v, http.StatusConflict, "This application was revoked", "Register a new application.")
		return access.Client{}, false
	}
	return c, true
}
