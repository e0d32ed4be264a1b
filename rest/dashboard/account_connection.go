package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/sending"
)

// connectionView is how the account is reached, as the page shows it: everything
// but the secret.
type connectionView struct {
	sending.Connection
	Name          string // of the provider
	EventsAddress string
	HasKey        bool
	Latest        int
	Verify        form
	Template      form
}

func (d *Dashboard) viewConnection(c sending.Connection, v access.Visitor) *connectionView {
	view := &connectionView{
		Connection: c, Name: string(c.Provider), EventsAddress: d.EventsAddress(c.IngestPath), HasKey: c.IngestKeyHash != nil,
		Latest: sending.LatestTemplateVersion, Verify: formTo(v, accountPath+"/verify"), Template: formTo(v, accountPath+"/template-version"),
	}
	for _, p := range providerNames {
		if p.provider == c.Provider {
			view.Name = p.name
		}
	}
	view.Secret = ""
	return view
}

// connectionOf is nil when nothing is connected. It has answered when it returns
// false.
func (d *Dashboard) connectionOf(w http.ResponseWriter, r *http.Request, v access.Visitor) (*sending.Connection, bool) {
	c, err := d.Connecting.Connections.Connection(r.Context(), v.Org.ID)
	if err != nil && core.AsError(err).Code == core.CodeNotFound {
		return nil, true
	}
	if err != nil {
		d.fail(w, r, v, fmt.Errorf("connection of the sending account: %w", err))
		return nil, false
	}
	return &c, true
}

// connectedOf is connectionOf for pages that there are not without one.
func (d *Dashboard) connectedOf(w http.ResponseWriter, r *http.Request, v access.Visitor) (*sending.Connection, bool) {
	c, ok := d.connectionOf(w, r, v)
	if ok && c == nil {
		d.refuse(w, r, v, http.StatusConflict, "No sending account is connected", "Connect one first.")
		return nil, false
	}
	return c, ok
}

func recorder(d *Dashboard, v access.Visitor) func(context.Context, string, string, map[string]any) error {
	return func(ctx context.Context, orgID, action string, detail map[string]any) error {
		if detail == nil {
			detail = map[string]any{}
		}
		return d.record(ctx, v, action, orgID, detail)
	}
}

// verifyTimeout keeps an account with thousands of identities, which are asked for
// one by one, from holding up the page.
const verifyTimeout = 20 * time.Second

// verdictWords are verdicts in words.
var verdictWords = map[sending.Verdict]string{sending.Fine: "fine", sending.Warning: "look at this", sending.Broken: "broken"}

// verifiedPage is what the account said about itself.
type verifiedPage struct{ Findings []findingRow }

type findingRow struct {
	sending.Finding
	Words string
}

func (d *Dashboard) verifyAccount(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	c, ok := d.connectedOf(w, r, v)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), verifyTimeout)
	defer cancel()
	findings, overview := sending.Examine(ctx, d.Sending, *c)
	if c.Provider == sending.SES && c.AccountID == "" && overview.AccountID != "" {
		if _, err := d.connecting(v).SetAccountID(r.Context(), v.Org.ID, overview.AccountID); err != nil {
			d.fail(w, r, v, err)
			return
		}
	}
	var data verifiedPage
	for _, f := range findings {
		data.Findings = append(data.Findings, findingRow{f, verdictWords[f.Verdict]})
	}
	d.show(w, r, v, http.StatusOK, screen{page: "account_verified", title: "What the sending account says", data: data})
}

func (d *Dashboard) recordTemplateVersion(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	version, err := strconv.Atoi(r.PostForm.Get("template_version"))
	if err != nil {
		version = 0 // which there is none of
	}
	if _, err := d.connecting(v).SetTemplateVersion(r.Context(), v.Org.ID, version); err != nil {
		d.failConnection(w, r, v, err)
		return
	}
	noticed(w, accountPath, "template")
}

// connectionDecision is what a page shows that asks before something is done with
// the connection.
type connectionDecision struct {
	Form   form
	HasKey bool
}

func (d *Dashboard) askForEventsKey(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.askAboutConnection(w, r, v, "events-key", screen{page: "account_events_key", title: "A key for events"})
}

// eventsKey is what the page shows that shows the key, once.
type eventsKey struct{ Key, Address string }

func (d *Dashboard) makeEventsKey(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if !d.Frame.Confirm(w, r, v, accountPath+"/events-key") {
		return
	}
	c, key, err := d.connecting(v).NewIngestKey(r.Context(), v.Org.ID)
	if err != nil {
		d.failConnection(w, r, v, err)
		return
	}
	d.show(w, r, v, http.StatusOK, screen{page: "account_events_secret", title: "Your key for events", data: eventsKey{
		Key: key, Address: d.EventsAddress(c.IngestPath),
	}})
}

func (d *Dashboard) askToDisconnect(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	d.askAboutConnection(w, r, v, "disconnect", screen{page: "account_disconnect", title: "Disconnect the sending account?"})
}

func (d *Dashboard) askAboutConnection(w http.ResponseWriter, r *http.Request, v access.Visitor, step string, s screen) {
	c, ok := d.connectedOf(w, r, v)
	if !ok || !d.Frame.Confirm(w, r, v, accountPath+"/"+step) {
		return
	}
	s.data = connectionDecision{Form: formTo(v, accountPath+"/"+step), HasKey: c.IngestKeyHash != nil}
	d.show(w, r, v, http.StatusOK, s)
}

func (d *Dashboard) disconnectAccount(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if !d.Frame.Confirm(w, r, v, accountPath+"/disconnect") {
		return
	}
	if err := d.connecting(v).Disconnect(r.Context(), v.Org.ID); err != nil {
		d.failConnection(w, r, v, err)
		return
	}
	noticed(w, accountPath, "disconnected")
}

// failConnection: a connection that is gone meanwhile is no page that is missing.
func (d *Dashboard) failConnection(w http.ResponseWriter, r *http.Request, v access.Visitor, err error) {
	if e := core.AsError(err); e.Code == core.CodeNotFound {
		d.refuse(w, r, v, http.StatusConflict, "No sending account is connected", "Connect one first.")
		return
	}
	d.fail(w, r, v, err)
}
