package dashboard

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

const (
	blockPath   = clientsPath + "/block"
	unblockPath = clientsPath + "/unblock"
	// fieldClient names a client by its public client id, since those that can be
	// blocked have no other.
	fieldClient = "client_id"
)

func (d *Dashboard) blockedPages() []route {
	manage := access.MayManageCredentials
	return []route{
		{path: "/clients/block", needs: manage, post: d.blockClient},
		{path: "/clients/unblock", needs: manage, post: d.unblockClient},
	}
}

// blockedRow is an application that the organization keeps out.
type blockedRow struct {
	ClientID, Name string // the name is "" when the application was never met
	Since          string
	Unblock        form
}

func (d *Dashboard) blockedRows(r *http.Request, v access.Visitor) ([]blockedRow, error) {
	blocked, err := d.OpenClients.BlockedClients(r.Context(), v.Org.ID)
	if err != nil {
		return nil, fmt.Errorf("blocked clients: %w", err)
	}
	rows := make([]blockedRow, len(blocked))
	for i, b := range blocked {
		rows[i] = blockedRow{ClientID: b.ClientID, Since: b.BlockedAt.UTC().Format(dateLayout), Unblock: formTo(v, unblockPath)}
		client, err := d.Clients.Client(r.Context(), b.ClientID)
		switch {
		case err == nil:
			rows[i].Name = plainName(client.Name)
		case core.AsError(err).Code != core.CodeNotFound:
			return nil, fmt.Errorf("blocked client: %w", err)
		}
	}
	return rows, nil
}

func (d *Dashboard) blockClient(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	clientID := strings.TrimSpace(r.PostForm.Get(fieldClient))
	err := d.lifecycle(v).BlockClient(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, clientID)
	if err == nil {
		noticed(w, clientsPath, "blocked")
		return
	}
	switch e := core.AsError(err); e.Code {
	case core.CodeNotFound:
		d.clientList(w, r, v, clientID, &core.Error{
			Code: core.CodeValidationFailed, Message: "That names no application that could be blocked.",
			Next: "Give the client id as it appears under Access, or the https address of its metadata document.",
		})
	case core.CodeConflict:
		d.clientList(w, r, v, clientID, e)
	default:
		d.fail(w, r, v, err)
	}
}

func (d *Dashboard) unblockClient(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if err := d.lifecycle(v).UnblockClient(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, r.PostForm.Get(fieldClient)); err != nil {
		d.fail(w, r, v, err)
		return
	}
	noticed(w, clientsPath, "unblocked")
}
