package dashboard

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/sending"
)

const connectPath = accountPath + "/connect"

// connectPages are about how the sending account is reached, which takes the same
// permission as the settings of the organization.
func (d *Dashboard) connectPages() []route {
	return []route{
		{path: "/account/connect", needs: access.MayManageOrg, get: d.showConnect, post: d.connectAccount},
		{path: "/account/verify", needs: access.MayManageOrg, post: d.verifyAccount},
		{path: "/account/template-version", needs: access.MayManageOrg, post: d.recordTemplateVersion},
		{path: "/account/events-key", needs: access.MayManageOrg, get: d.askForEventsKey, post: d.makeEventsKey},
		{path: "/account/disconnect", needs: access.MayManageOrg, get: d.askToDisconnect, post: d.disconnectAccount},
	}
}

// connecting changes the visitor's connection, in their name and while they may.
func (d *Dashboard) connecting(v access.Visitor) sending.Connecting {
	c := d.Connecting
	c.Transactor = d.permitted(v, access.MayManageOrg)
	c.Record = recorder(d, v)
	return c
}

// connectPage is what the form shows.
type connectPage struct {
	Form      form
	Provider  sending.Provider
	Wanted    sending.NewConnection
	Host      string
	Port      string
	KeepsOld  bool   // there is a secret, which may stay
	External  string // the external id for a role, "" before the first connection
	Providers []providerChoice
	Guide     string // says what the account has to allow
}

type providerChoice struct {
	Name, Path string
	Current    bool
}

var providerNames = []struct {
	provider sending.Provider
	name     string
}{{sending.SES, "Amazon SES"}, {sending.SMTP, "SMTP server"}, {sending.Simulated, "Simulator"}}

func (d *Dashboard) showConnect(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	before, ok := d.connectionOf(w, r, v)
	if !ok || !d.Frame.Confirm(w, r, v, connectPath) {
		return
	}
	provider := sending.SES
	if before != nil {
		provider = before.Provider
	}
	if asked := r.URL.Query().Get("provider"); asked != "" {
		provider = sending.Provider(asked)
	}
	wanted := sending.NewConnection{Provider: provider}
	if before != nil && before.Provider == provider {
		wanted = sending.NewConnection{
			Provider: provider, AccountID: before.AccountID, Region: before.Region, Endpoint: before.Endpoint, AccessKeyID: before.AccessKeyID,
			RoleARN: before.RoleARN, TopicARN: before.TopicARN,
			Identities: before.Identities, Max24HourSend: before.Max24HourSend, MaxSendRate: before.MaxSendRate,
		}
	}
	d.connectForm(w, r, v, before, wanted, nil)
}

// connectForm shows the form with what was wanted; refused is what was wrong with
// it, or nil. It never shows a secret.
func (d *Dashboard) connectForm(
	w http.ResponseWriter, r *http.Request, v access.Visitor, before *sending.Connection, wanted sending.NewConnection, refused *core.Error,
) {
	status, problem := http.StatusOK, ""
	if refused != nil {
		status, problem = refused.HTTPStatus(), labelled(refused, connectLabels)
	}
	wanted.Secret = ""
	data := connectPage{Form: formTo(v, connectPath), Provider: wanted.Provider, Wanted: wanted, Guide: d.DocsURL + "/guides/sending-account"}
	data.Host, data.Port, _ = strings.Cut(wanted.Endpoint, ":")
	if data.Port == "" {
		data.Port = "587"
	}
	if before != nil {
		data.External, data.KeepsOld = before.ExternalID, before.Provider == wanted.Provider && before.Secret != ""
	}
	known := false
	for _, p := range providerNames {
		current := p.provider == wanted.Provider
		known = known || current
		data.Providers = append(data.Providers, providerChoice{p.name, connectPath + "?provider=" + string(p.provider), current})
	}
	if !known {
		d.noSuchPage(w, r, v)
		return
	}
	d.show(w, r, v, status, screen{page: "account_connect", title: "Connect the sending account", problem: problem, data: data})
}

// connectLabels are what the form calls its fields.
var connectLabels = map[string]string{
	"provider": "The account", "account_id": "The account id", "region": "The region", "endpoint": "The server", "access_key_id": "The access key id or user name",
	"secret": "The secret or password", "role_arn": "The role", "topic_arn": "The notification topic", "identities": "The senders",
	"max_24_hour_send": "The limit of 24 hours", "max_send_rate": "The limit of a second",
}

func (d *Dashboard) connectAccount(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	before, ok := d.connectionOf(w, r, v)
	if !ok || !d.Frame.Confirm(w, r, v, connectPath) {
		return
	}
	wanted, err := postedConnection(r, v.Org.ID)
	if err == nil {
		_, err = d.connecting(v).Connect(r.Context(), wanted)
	}
	switch e := core.AsError(err); {
	case err == nil:
		noticed(w, accountPath, "connected")
	case e.Code == core.CodeValidationFailed:
		d.connectForm(w, r, v, before, wanted, e)
	default:
		d.fail(w, r, v, err)
	}
}

// postedConnection reads the fields of the chosen provider alone. An address of the
// account's own is none of them but for an SMTP server, and no form says that it may
// be a private one.
func postedConnection(r *http.Request, orgID string) (sending.NewConnection, error) {
	get := func(name string) string { return strings.TrimSpace(r.PostForm.Get(name)) }
	n := sending.NewConnection{OrgID: orgID, Provider: sending.Provider(get("provider"))}
	switch n.Provider {
	case sending.SES:
		n.Region, n.AccountID, n.AccessKeyID, n.Secret = get("region"), get("account_id"), get("access_key_id"), get("secret")
		n.RoleARN, n.TopicARN = get("role_arn"), get("topic_arn")
	case sending.SMTP:
		n.Endpoint, n.AccessKeyID, n.Secret = get("host")+":"+get("port"), get("access_key_id"), r.PostForm.Get("secret")
		n.Identities = strings.Fields(r.PostForm.Get("identities"))
		var err error
		if n.Max24HourSend, err = postedLimit(get("max_24_hour_send"), "max_24_hour_send"); err != nil {
			return n, err
		}
		if n.MaxSendRate, err = postedLimit(get("max_send_rate"), "max_send_rate"); err != nil {
			return n, err
		}
	}
	return n, nil
}

// postedLimit reads a number that may be left out, which is no limit.
func postedLimit(text, field string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	limit, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, core.Invalid(field, "is no number")
	}
	return limit, nil
}

// labelled says in the form's own words what is wrong with it.
func labelled(e *core.Error, labels map[string]string) string {
	var sentences []string
	for _, f := range e.Fields {
		if label := labels[f.Field]; label != "" {
			sentences = append(sentences, label+" "+f.Reason+".")
		}
	}
	if len(sentences) == 0 {
		return e.Message
	}
	return strings.Join(sentences, " ")
}
