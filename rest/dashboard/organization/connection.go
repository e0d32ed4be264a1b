package organization

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// connectionView is the data of the connection to the sending account, without its secret.
// Latest is the newest version of the infrastructure template.
type connectionView struct {
	sending.Connection
	Name          string // the provider's name
	EventsAddress string
	HasKey        bool
	Latest        int
	Verify        frame.Form
	Template      frame.Form
}

// viewConnection returns the page data about a connection to a sending account, for a
// visitor who may change the connection.
func (o *Organization) viewConnection(c sending.Connection, v people.Visitor) *connectionView {
	view := &connectionView{
		Connection: c, Name: string(c.Provider), EventsAddress: o.EventsAddress(c.IngestPath), HasKey: c.IngestKeyHash != nil,
		Latest: sending.LatestTemplateVersion, Verify: frame.FormTo(v, AccountPath+"/verify"), Template: frame.FormTo(v, AccountPath+"/template-version"),
	}
	for _, p := range providerNames {
		if p.provider == c.Provider {
			view.Name = p.name
		}
	}
	view.Secret = ""
	return view
}

// connectionOf returns the connection of the visitor's organization, or nil if no account
// is connected. If it returns false, it has written an error page.
func (o *Organization) connectionOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (*sending.Connection, bool) {
	c, err := o.Connections.Connection(r.Context(), v.Org.ID)
	if err != nil && core.AsError(err).Code == core.CodeNotFound {
		return nil, true
	}
	if err != nil {
		o.Fail(w, r, v, fmt.Errorf("connection of the sending account: %w", err))
		return nil, false
	}
	return &c, true
}

// connectedOf returns the connection of the visitor's organization. If it returns false, it
// has written the response: an error page, or a refusal because no account is connected.
func (h connectionHandlers) connectedOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (*sending.Connection, bool) {
	c, ok := h.connectionOf(w, r, v)
	if ok && c == nil {
		h.Refuse(w, r, v, http.StatusConflict, "No sending account is connected", "Connect the account first.")
		return nil, false
	}
	return c, ok
}

// verifyTimeout is the maximum time for verifying an account. An account can have thousands
// of identities, which are read one by one.
const verifyTimeout = 20 * time.Second

// verdictWords are the texts for the verdicts on the permissions and settings of a sending
// account.
var verdictWords = map[sending.Verdict]string{sending.Fine: "fine", sending.Warning: "warning", sending.Broken: "failed"}

// verifiedPage is the data of the page with the results of verifying an account.
type verifiedPage struct{ Findings []findingRow }

// findingRow is the data of one result of verifying an account. Words is the text for its
// verdict.
type findingRow struct {
	sending.Finding
	Words string
}

// verifyAccount checks the permissions and settings of the sending account and shows the
// results. It records the account's id if that was unknown.
func (h connectionHandlers) verifyAccount(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	c, ok := h.connectedOf(w, r, v)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), verifyTimeout)
	defer cancel()
	findings, overview := sending.Examine(ctx, h.Sending, *c)
	if c.Provider == sending.SES && c.AccountID == "" && overview.AccountID != "" {
		if _, err := h.connectionTasks(v).SetAccountID(r.Context(), v.Org.ID, overview.AccountID); err != nil {
			h.Fail(w, r, v, err)
			return
		}
	}
	var data verifiedPage
	for _, f := range findings {
		data.Findings = append(data.Findings, findingRow{f, verdictWords[f.Verdict]})
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "account_verified", Title: "Sending account check", Data: data})
}

// recordTemplateVersion stores the version of the infrastructure template that the sending
// account uses, as the visitor entered it, and redirects to the page of the account.
func (h connectionHandlers) recordTemplateVersion(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	version, err := strconv.Atoi(r.PostForm.Get("template_version"))
	if err != nil {
		version = 0 // SetTemplateVersion refuses 0
	}
	if _, err := h.connectionTasks(v).SetTemplateVersion(r.Context(), v.Org.ID, version); err != nil {
		h.failConnection(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, AccountPath, "template")
}

// connectionDecision is the data of a page that asks for confirmation before the connection
// is changed.
type connectionDecision struct {
	Form   frame.Form
	HasKey bool
}

// askForEventsKey shows the page that asks for confirmation before a new key is created.
// With this key, the provider may send events that are not signed.
func (h connectionHandlers) askForEventsKey(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.askAboutConnection(w, r, v, "events-key", frame.Screen{Page: "account_events_key", Title: "Key for events"})
}

// eventsKey is the data of the page that shows a new key for unsigned events of the
// provider. The page can be shown only once.
type eventsKey struct{ Key, Address string }

// makeEventsKey creates a key that authenticates unsigned events of the provider, and shows
// it once. The previous key is invalid from then on.
func (h connectionHandlers) makeEventsKey(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Confirm(w, r, v, AccountPath+"/events-key") {
		return
	}
	c, key, err := h.connectionTasks(v).NewIngestKey(r.Context(), v.Org.ID)
	if err != nil {
		h.failConnection(w, r, v, err)
		return
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "account_events_secret", Title: "Your key for events", Data: eventsKey{
		Key: key, Address: h.EventsAddress(c.IngestPath),
	}})
}

// askToDisconnect shows the page that asks for confirmation before the connection is
// deleted.
func (h connectionHandlers) askToDisconnect(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.askAboutConnection(w, r, v, "disconnect", frame.Screen{Page: "account_disconnect", Title: "Disconnect the sending account?"})
}

// askAboutConnection writes a page that asks for confirmation before the connection is
// changed. step is the last part of the page's path, such as "disconnect". If the
// organization requires a recent second factor, it asks for that first.
func (h connectionHandlers) askAboutConnection(w http.ResponseWriter, r *http.Request, v people.Visitor, step string, s frame.Screen) {
	c, ok := h.connectedOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, AccountPath+"/"+step) {
		return
	}
	s.Data = connectionDecision{Form: frame.FormTo(v, AccountPath+"/"+step), HasKey: c.IngestKeyHash != nil}
	h.Show(w, r, v, http.StatusOK, s)
}

// disconnectAccount deletes the connection and redirects to the page of the account.
func (h connectionHandlers) disconnectAccount(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Confirm(w, r, v, AccountPath+"/disconnect") {
		return
	}
	if err := h.connectionTasks(v).Disconnect(r.Context(), v.Org.ID); err != nil {
		h.failConnection(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, AccountPath, "disconnected")
}

// failConnection writes the page for an error. A missing connection is shown as a conflict
// instead of a missing page, because it existed when the form was shown.
func (h connectionHandlers) failConnection(w http.ResponseWriter, r *http.Request, v people.Visitor, err error) {
	if e := core.AsError(err); e.Code == core.CodeNotFound {
		h.Refuse(w, r, v, http.StatusConflict, "No sending account is connected", "Connect the account first.")
		return
	}
	h.Fail(w, r, v, err)
}
