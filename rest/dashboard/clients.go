package dashboard

import (
	"fmt"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const clientsPath = Path + "/clients"

func (d *Dashboard) clientPages() []route {
	manage := access.MayManageCredentials
	return []route{
		{path: "/clients", needs: manage, get: d.showClients},
		{path: "/clients/new", needs: manage, get: d.showNewClient, post: d.createClient},
		{path: "/clients/{id}", needs: manage, get: d.showClient},
		{path: "/clients/{id}/edit", needs: manage, get: d.showEditClient, post: d.editClient},
		{path: "/clients/{id}/secret", needs: manage, get: d.showRotateSecret, post: d.rotateSecret},
		{path: "/clients/{id}/revoke", needs: manage, get: d.showRevokeClient, post: d.revokeClient},
	}
}

var clientNotices = notices{
	"edited":    "The application is changed. It counts from now on.",
	"revoked":   "The application is revoked. Its tokens are refused from now on, and what people allowed it has ended.",
	"blocked":   "The application is blocked. What people here allowed it has ended, and nobody here can allow it anything.",
	"unblocked": "The application may be allowed again. Nothing comes back by itself: people have to allow it anew.",
}

// clientRow is an OAuth client as lists and its own page show it.
type clientRow struct {
	Path, Name, ClientID string
	Environment          core.Environment
	Public               bool
	Scopes               int
	Redirects            []string
	Lifetime             string
	Created              string
	Ended                string // when it was revoked, or ""
}

func newClientRow(c access.Client) clientRow {
	row := clientRow{
		Path: clientsPath + "/" + c.ID, Name: plainName(c.Name), ClientID: c.ClientID, Environment: c.Environment,
		Public: c.SecretHash == nil, Scopes: len(c.Scopes), Redirects: c.RedirectURIs, Lifetime: "never ends",
		Created: c.CreatedAt.UTC().Format(dateLayout),
	}
	if c.RefreshDays > 0 {
		row.Lifetime = fmt.Sprintf("%d days", c.RefreshDays)
	}
	if c.RevokedAt != nil {
		row.Ended = c.RevokedAt.UTC().Format(dateLayout)
	}
	return row
}

// clientList is what the page of all clients shows.
type clientList struct {
	NewPath       string
	Working, Over []clientRow
	Blocked       []blockedRow
	Block         form
	BlockID       string // what was typed and refused
}

func (d *Dashboard) showClients(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.clientList(w, r, v, "", nil)
}

// clientList shows the page again with an application that could not be blocked,
// when refused is not nil.
func (d *Dashboard) clientList(w http.ResponseWriter, r *http.Request, v access.Visitor, typed string, refused *core.Error) {
	clients, err := d.Clients.ClientsOf(r.Context(), v.Org.ID)
	if err != nil {
		d.fail(w, r, v, fmt.Errorf("clients: %w", err))
		return
	}
	data := clientList{NewPath: clientsPath + "/new", Block: formTo(v, blockPath), BlockID: typed}
	for _, c := range clients {
		if row := newClientRow(c); row.Ended == "" {
			data.Working = append(data.Working, row)
		} else {
			data.Over = append(data.Over, row)
		}
	}
	if data.Blocked, err = d.blockedRows(r, v); err != nil {
		d.fail(w, r, v, err)
		return
	}
	shown, status := screen{page: "clients", title: "Applications", notice: clientNotices.of(r), data: data}, http.StatusOK
	if refused != nil {
		shown.problem, status = refused.Message+" "+refused.NextStep(), refused.HTTPStatus()
	}
	d.show(w, r, v, status, shown)
}

// clientPage is what the page of one client shows.
type clientPage struct {
	Client clientRow
	Scopes []scopeChoice
}

func (d *Dashboard) showClient(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	c, ok := d.clientOf(w, r, v)
	if !ok {
		return
	}
	row := newClientRow(c)
	d.show(w, r, v, http.StatusOK, screen{page: "client", title: row.Name, notice: clientNotices.of(r), data: clientPage{
		Client: row, Scopes: scopeRows(c.Scopes),
	}})
}

// clientOf finds the client in the path. It has answered when it returns false.
func (d *Dashboard) clientOf(w http.ResponseWriter, r *http.Request, v access.Visitor) (access.Client, bool) {
	id := r.PathValue("id")
	if !core.IsID(id) {
		d.noSuchPage(w, r, v)
		return access.Client{}, false
	}
	c, err := d.Clients.ClientByID(r.Context(), v.Org.ID, id)
	if err != nil {
		d.fail(w, r, v, err)
		return access.Client{}, false
	}
	return c, true
}

// workingClientOf is clientOf for what can only be done with a client that works.
func (d *Dashboard) workingClientOf(w http.ResponseWriter, r *http.Request, v access.Visitor) (access.Client, bool) {
	c, ok := d.clientOf(w, r, v)
	if !ok {
		return access.Client{}, false
	}
	if c.RevokedAt != nil {
		d.refuse(w, r, v, http.StatusConflict, "This application was revoked", "Register a new one.")
		return access.Client{}, false
	}
	return c, true
}
