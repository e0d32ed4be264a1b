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

// The paths to which the forms for blocking and unblocking a client are sent.
const (
	blockPath   = ClientsPath + "/block"
	unblockPath = ClientsPath + "/unblock"
	// fieldClient is the name of the form field with the public client id of the client to
	// block or unblock.
	fieldClient = "client_id"
)

// blockedRow is the data of an application that the organization blocks, for the list of
// blocked applications.
type blockedRow struct {
	ClientID, Name string // Name is "" if the application is not known
	// Since is the day on which the client was blocked. Unblock is the form that ends the
	// block.
	Since   string
	Unblock frame.Form
}

// blockedRows returns the clients that the visitor's organization blocks, for the page of
// all clients.
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

// blockClient blocks the client whose id the form has, and redirects to the list of
// clients. If the client cannot be blocked, the form is shown again with the reason.
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

// unblockClient ends the block of a client and redirects to the list of clients.
func (h clientHandlers) unblockClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if err := h.lifecycle(v).UnblockClient(r.Context(), access.ActorOf(v.User.ID), v.Org.ID, r.PostForm.Get(fieldClient)); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ClientsPath, "unblocked")
}
