package organization

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// connectPath is the path of the form that connects a sending account.
const connectPath = AccountPath + "/connect"

// connectionTasks returns the operations on the organization's connection for a visitor.
// Each checks that the visitor may manage the organization, and records the visitor as the
// actor.
func (h connectionHandlers) connectionTasks(v people.Visitor) sending.Connecting {
	c := h.Connecting
	c.Transactor = h.TransactorWith(v, members.MayManageOrg)
	c.Record = func(ctx context.Context, _, action string, detail map[string]any) error {
		return h.Record(ctx, v, action, v.Org.ID, detail)
	}
	return c
}

// connectPage is the data of the form that connects a sending account.
type connectPage struct {
	Form     frame.Form
	Provider sending.Provider
	Wanted   sending.NewConnection
	Host     string
	Port     string
	// whether the form as shown keeps the stored secret if its field stays empty
	KeepsOld  bool
	External  string // the external id for an IAM role; "" without a connection
	Providers []providerChoice
	Guide     string // the URL of the guide on the permissions that Mailhelm needs
}

// providerChoice is a link to the form for connecting an account of one provider.
type providerChoice struct {
	Name, Path string
	Current    bool
}

// providerNames are the providers that a visitor can choose, in the order in which the page
// shows them.
var providerNames = []struct {
	provider sending.Provider
	name     string
}{{sending.SES, "Amazon SES"}, {sending.SMTP, "SMTP server"}, {sending.Simulated, "Simulator"}}

// showConnect shows the form for connecting a sending account. The provider is the one in
// the query, else the connected one, else Amazon SES. The fields have the values of the
// existing connection to that provider, except the secret.
func (h connectionHandlers) showConnect(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	before, ok := h.connectionOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, connectPath) {
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
			Provider: provider, AccountID: before.AccountID, Region: before.Region, AccessKeyID: before.AccessKeyID,
			RoleARN: before.RoleARN, TopicARN: before.TopicARN,
			Identities: before.Identities, Max24HourSend: before.Max24HourSend, MaxSendRate: before.MaxSendRate,
		}
		if provider == sending.SMTP { // no other form has a field for the endpoint
			wanted.Endpoint = before.Endpoint
		}
	}
	h.connectForm(w, r, v, before, wanted, nil)
}

// connectForm writes the form for connecting an account, filled with the values in wanted
// except the secret. before is the existing connection or nil. refused is the error of the
// submitted form, or nil.
func (h connectionHandlers) connectForm(
	w http.ResponseWriter, r *http.Request, v people.Visitor, before *sending.Connection, wanted sending.NewConnection, refused *core.Error,
) {
	status, problem := http.StatusOK, ""
	if refused != nil {
		status, problem = refused.HTTPStatus(), connectLabels.Problem(refused)
	}
	wanted.Secret = ""
	data := connectPage{Form: frame.FormTo(v, connectPath), Provider: wanted.Provider, Wanted: wanted, Guide: h.DocsURL + "/guides/sending-account"}
	data.Host, data.Port, _ = strings.Cut(wanted.Endpoint, ":")
	if data.Port == "" {
		data.Port = "587"
	}
	if before != nil {
		data.External, data.KeepsOld = before.ExternalID, before.KeepsSecret(wanted)
	}
	known := false
	for _, p := range providerNames {
		current := p.provider == wanted.Provider
		known = known || current
		data.Providers = append(data.Providers, providerChoice{p.name, connectPath + "?provider=" + string(p.provider), current})
	}
	if !known {
		h.NoSuchPage(w, r, v)
		return
	}
	h.Show(w, r, v, status, frame.Screen{Page: "account_connect", Title: "Connect the sending account", Problem: problem, Data: data})
}

// connectLabels has, for each field of the form for connecting an account, the words that
// name the field in error texts of the form.
var connectLabels = frame.Labels{
	"provider": "The kind of account", "account_id": "The account id", "region": "The region", "endpoint": "The server", "access_key_id": "The access key id or user name",
	"secret": "The secret or password", "role_arn": "The role", "topic_arn": "The notification topic", "identities": "The senders",
	"max_24_hour_send": "The limit of recipients in 24 hours", "max_send_rate": "The limit of messages a second",
}

// connectAccount stores the connection and redirects to the page of the account. A refused
// form is shown again without its secret.
func (h connectionHandlers) connectAccount(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	before, ok := h.connectionOf(w, r, v)
	if !ok || !h.Confirm(w, r, v, connectPath) {
		return
	}
	wanted, err := postedConnection(r, v.Org.ID)
	if err == nil {
		_, err = h.connectionTasks(v).Connect(r.Context(), wanted)
	}
	switch e := core.AsError(err); {
	case err == nil:
		frame.RedirectWithNotice(w, AccountPath, "connected")
	case e.Code == core.CodeValidationFailed:
		h.connectForm(w, r, v, before, wanted, e)
	default:
		h.Fail(w, r, v, err)
	}
}

// postedConnection returns the form's values for the chosen provider. Only an SMTP server
// has an endpoint. A form cannot allow an endpoint in a private network.
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

// postedLimit returns an optional number of a form. An empty text is 0, which means no
// limit. It fails for any other text that is not a number.
func postedLimit(text, field string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	limit, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, core.Invalid(field, "must be a number")
	}
	return limit, nil
}
