package receiving

import (
	"context"
	"embed"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// The paths of the pages.
const (
	ListPath = frame.Path + "/receiving"
	LogPath  = frame.Path + "/received-mail"
	newPath  = ListPath + "/new"
)

// guide is the page of the documentation about received mail.
const guide = "/guides/receiving-mail"

// Domains reads what no operation on receiving domains returns.
type Domains interface {
	Domains(ctx context.Context, orgID string) ([]receiving.Domain, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Domains Domains
	// Desk tests webhooks and sends messages again. The pages replace its Transactor by one
	// that checks the visitor's permission.
	Desk receiving.Desk
}

// Receiving has the pages about receiving domains; see dashboard.Room. It has many methods because
// each page and each form has its own, and all share the domain of the path.
type Receiving struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Receiving, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Receiving{cfg, pages}, nil
}

// Routes returns the routes of the pages.
func (h *Receiving) Routes() []frame.Route {
	view, manage := members.MayViewInbound, members.MayManageInbound
	return []frame.Route{
		{Path: "/receiving", Needs: view, Get: h.showDomains},
		{Path: "/receiving/new", Needs: manage, Get: h.showNew, Post: h.create},
		{Path: "/received-mail", Needs: view, Get: h.showLog},
		{Path: "/received-mail/{message}", Needs: view, Get: h.showMessage},
		{Path: "/received-mail/{message}/resend", Needs: manage, Post: h.resend},
		{Path: "/receiving/{id}", Needs: view, Get: h.showDomain},
		{Path: "/receiving/{id}/verify", Needs: manage, Post: h.verify},
		{Path: "/receiving/{id}/delete", Needs: manage, Get: h.showDelete, Post: h.delete},
		{Path: "/receiving/{id}/webhook", Needs: manage, Get: h.showWebhook, Post: h.saveWebhook},
		{Path: "/receiving/{id}/webhook/rotate", Needs: manage, Get: h.showRotate, Post: h.rotate},
		{Path: "/receiving/{id}/webhook/delete", Needs: manage, Get: h.showRemove, Post: h.removeWebhook},
		{Path: "/receiving/{id}/webhook/test", Needs: manage, Post: h.sendTest},
		{Path: "/receiving/{id}/webhook/resend", Needs: manage, Post: h.resendWindow},
		{Path: "/receiving/{id}/addresses", Needs: manage, Get: h.showNewAddress, Post: h.createAddress},
		{Path: "/receiving/{id}/addresses/delete", Needs: manage, Post: h.deleteAddress},
	}
}

// permitted returns the desk for a visitor. It checks the permission inside its transactions.
func (h *Receiving) permitted(v people.Visitor) receiving.Desk {
	desk := h.Desk
	desk.Transactor = h.TransactorWith(v, members.MayManageInbound)
	return desk
}

// notices are the messages that the pages show after a change, by name.
var notices = frame.Notices{
	"added":    "The domain is added. Publish the records below; they are checked every minute in the first hour.",
	"checked":  "The records were checked just now.",
	"deleted":  "The domain is deleted. Mail that still comes is logged for 30 days, then refused.",
	"saved":    "The webhook is saved. It is used within seconds, once the domain is verified.",
	"removed":  "The webhook is removed. Mail is logged and not delivered.",
	"tested":   "A test message is on its way to the webhook. It is in the log within seconds.",
	"minted":   "The address is added. Deliveries have its metadata within seconds.",
	"unminted": "The address is deleted.",
	"resent":   "The message is sent again within seconds.",
	"window":   "The messages of this time are sent again within seconds.",
	"nothing":  "No message of this time can be sent again.",
}

// named returns the argument that names the domain of the request's path.
func named(r *http.Request) map[string]any { return map[string]any{"domain": r.PathValue("id")} }

// domain is a receiving domain, as operations return it.
type domain struct {
	ID          string `json:"id"`
	Domain      string `json:"domain"`
	Status      string `json:"status"`
	LastError   string `json:"last_error"`
	Region      string `json:"region"`
	CrossRegion bool   `json:"cross_region"`
	Records     []struct {
		Type     string `json:"type"`
		Name     string `json:"name"`
		Value    string `json:"value"`
		Verified bool   `json:"verified"`
	} `json:"records"`
	Webhook    *webhook  `json:"webhook"`
	CreatedAt  time.Time `json:"created_at"`
	HMACSecret string    `json:"hmac_secret"`
}

// webhook is the webhook of a domain.
type webhook struct {
	URL           string     `json:"url"`
	AllowPatterns []string   `json:"allow_patterns"`
	SpamPosture   string     `json:"spam_posture"`
	VirusPosture  string     `json:"virus_posture"`
	Status        string     `json:"status"`
	PublishedAt   *time.Time `json:"published_at"`
	Error         string     `json:"error"`
}

// path returns the path of the page of a domain.
func (d domain) path() string { return ListPath + "/" + d.ID }

// domainOf reads the domain whose id is in the path. If it returns false, it has written the
// response.
func (h *Receiving) domainOf(w http.ResponseWriter, r *http.Request, v people.Visitor) (domain, bool) {
	var d domain
	if !core.IsID(r.PathValue("id")) {
		h.NoSuchPage(w, r, v)
		return d, false
	}
	if err := h.Read(r, v, "inbound_domains_get", named(r), &d); err != nil {
		h.Fail(w, r, v, err)
		return d, false
	}
	return d, true
}

// mark is a word with its color.
type mark struct{ Name, Class string }

// markOfDomain returns the mark of a domain's state.
func markOfDomain(status string) mark {
	return map[string]mark{
		"verified": {"verified", "delivered"}, "pending_dns": {"waits for DNS", "sent"}, "error": {"DNS unknown", "bounced"},
	}[status]
}

// markOfWebhook returns the mark of a webhook's state.
func markOfWebhook(status string) mark {
	return map[string]mark{"published": {"published", "delivered"}, "pending": {"pending", "sent"}, "invalid": {"invalid", "bounced"}}[status]
}

// markOfOutcome returns the mark of a message's outcome.
func markOfOutcome(outcome string) mark {
	return map[string]mark{
		"received": {"received", "sent"}, "delivered": {"delivered", "delivered"}, "retrying": {"retrying", "delayed"}, "delivery_failed": {"delivery failed", "bounced"},
		"no_route": {"no route", "test"}, "dropped": {"dropped", "test"}, "unknown_domain": {"unknown domain", "test"},
	}[outcome]
}

// alarms returns an alert for each domain whose webhook has failed for long, by the id of the
// domain.
func (h *Receiving) alarms(r *http.Request, v people.Visitor) (map[string]string, error) {
	all, err := h.Domains.Domains(r.Context(), v.Org.ID)
	alarms := map[string]string{}
	for _, d := range all {
		if alarm := d.Alert(h.Clock()); alarm != "" {
			alarms[d.ID] = alarm
		}
	}
	return alarms, err
}
