package developers

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// The paths of the forms that block and unblock a client.
const (
	blockPath   = ClientsPath + "/block"
	unblockPath = ClientsPath + "/unblock"
	// fieldClient is the field with the public client id. Clients that can be blocked have
	// no other id in the organization.
	fieldClient = "client_id"
)

// blockedRow is the data of an application that the organization blocks.
type blockedRow struct {
	ClientID, Name string // Name is "" for an application that has never asked
	// Since is the day of the block, Unblock the form that ends it.
	Since   string
	Unblock frame.Form
}

// blockedRows returns the blocked clients of the visitor's organization for the page of all
// clients.
func (h clientHandlers) blockedRows(r *http.Request, v people.Visitor) ([]blockedRow, error) {
	blocked, err := h.Blocked.BlockedClients(r.Context(), v.Org.ID)
	if err != nil {
		return nil, fmt.Errorf("blocked clients: %w", err)
	}
	rows := make([]blockedRow, len(blocked))
	for i, b := range blocked {
		rows[i] = blockedRow{ClientID: b.ClientID, Since: b.BlockedAt.UTC().Format(frame.DateLayout), Unblock: frame.FormTo(v, unblockPath)}
		client, err := h.Public.Client(r.Context(), b.ClientID)
		switch {
		case err == nil:
			rows[i].Name = frame.PlainName(client.Name)
		case core.AsError(err).Code != core.CodeNotFound:
			return nil, fmt.Errorf("blocked client: %w", err)
		}
	}
	return rows, nil
}

// blockClient blocks a client and redirects to the list. A client id that cannot be blocked
// is shown again with the reason.
func (h clientHandlers) blockClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	clientID := strings.TrimSpace(r.PostForm.Get(fieldClient))
	err := h.lifecycle(v).BlockClient(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, clientID)
	if err == nil {
		frame.RedirectWithNotice(w, ClientsPath, "blocked")
		return
	}
	switch e := core.AsError(err); e.Code {
	case core.CodeNotFound:
		h.clientList(w, r, v, clientID, &core.Error{
			Code: core.CodeValidationFailed, Message: "No application with this client id can be blocked.",
			Next: "Enter the client id as the page Access shows it, or the https address of its metadata document.",
		})
	case core.CodeConflict:
		h.clientList(w, r, v, clientID, e)
	default:
		h.Fail(w, r, v, err)
	}
}

// unblockClient ends a block and redirects to the list.
func (h clientHandlers) unblockClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if err := h.lifecycle(v).UnblockClient(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, r.PostForm.Get(fieldClient)); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ClientsPath, "unblocked")
}
