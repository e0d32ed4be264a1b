package receiving

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// hostOf returns the host of a URL.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// address is a minted address, as operations return it.
type address struct {
	LocalPart string          `json:"local_part"`
	Address   string          `json:"address"`
	Metadata  json.RawMessage `json:"metadata"`
	CreatedAt time.Time       `json:"created_at"`
}

// addressRow is an address on the page of a domain.
type addressRow struct {
	LocalPart string
	Address   frame.Wrapped
	Metadata  string
	Created   frame.When
	Delete    *frame.Form
}

// shownAddresses is how many addresses the page of a domain shows.
const shownAddresses = 100

// domainPage is the data of the page of a domain.
type domainPage struct {
	Domain           domain
	Records          []recordRow
	State, HookState mark
	Alarm            string
	Patterns         string
	Published        frame.When
	Created          frame.When
	Addresses        []addressRow
	Hidden           int
	Path, Log        string
	// SES leads to the steps in AWS. It is nil for a domain that this server receives.
	SES               *frame.Link
	MayManage         bool
	Verify, Test      frame.Form
	Window            frame.Form
	From, To, Problem string
}

// recordRow is a DNS record on the page of a domain.
type recordRow struct {
	Type        string
	Name, Value frame.Wrapped
	Verified    bool
}

// showDomain shows a domain.
func (h *Receiving) showDomain(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.domainPage(w, r, v, "", "", nil)
}

// domainPage writes the page of a domain. from and to are the values of the form that sends the
// messages of a window again; refused is its error, or nil.
func (h *Receiving) domainPage(w http.ResponseWriter, r *http.Request, v people.Visitor, from, to string, refused error) {
	d, ok := h.domainOf(w, r, v)
	if !ok {
		return
	}
	problem, status := correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	var minted core.Collection[address]
	err := h.Read(r, v, "inbound_addresses_list", named(r), &minted)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	alarms, err := h.alarms(r, v)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := domainPage{
		Domain: d, State: markOfDomain(d.Status), Alarm: alarms[d.ID], Created: h.When(d.CreatedAt), Path: d.path(),
		Log: LogPath + "?domain=" + url.QueryEscape(d.Domain), MayManage: v.Member.Has(members.MayManageInbound),
		Verify: frame.FormTo(v, d.path()+"/verify"), Test: frame.FormTo(v, d.path()+"/webhook/test"), Window: frame.FormTo(v, d.path()+"/webhook/resend"),
		From: from, To: to,
	}
	for _, r := range d.Records {
		data.Records = append(data.Records, recordRow{r.Type, frame.Wrapped(r.Name), frame.Wrapped(r.Value), r.Verified})
	}
	if d.Region != "" {
		data.SES = h.Guide(guide+"#receive-by-amazon-ses", "Set up Amazon SES")
	}
	if d.Webhook != nil {
		data.HookState, data.Patterns = markOfWebhook(d.Webhook.Status), strings.Join(d.Webhook.AllowPatterns, ", ")
		if d.Webhook.PublishedAt != nil {
			data.Published = h.When(*d.Webhook.PublishedAt)
		}
	}
	data.Addresses, data.Hidden = h.addressRows(v, d, minted.Data, data.MayManage)
	head := frame.Head{}
	if data.MayManage {
		name := "Set webhook"
		if d.Webhook != nil {
			name = "Edit webhook"
		}
		head.Actions = []frame.Action{{Path: d.path() + "/webhook", Name: name, Primary: d.Webhook == nil}, {Path: d.path() + "/addresses", Name: "Add address"}}
	}
	h.Show(w, r, v, status, frame.Screen{Page: "domain", Title: d.Domain, Notice: notices.NoticeOf(r), Problem: problem, Head: head, Data: data})
}

// addressRows returns the newest addresses, and the number of the others.
func (h *Receiving) addressRows(v people.Visitor, d domain, all []address, manage bool) ([]addressRow, int) {
	hidden := max(0, len(all)-shownAddresses)
	var rows []addressRow
	for _, a := range all[hidden:] {
		var metadata bytes.Buffer
		if err := json.Compact(&metadata, a.Metadata); err != nil || metadata.String() == "{}" {
			metadata.Reset()
		}
		row := addressRow{LocalPart: a.LocalPart, Address: frame.Wrapped(a.Address), Metadata: core.OnlyVisible(metadata.String()), Created: h.When(a.CreatedAt)}
		if manage {
			form := frame.FormTo(v, d.path()+"/addresses/delete")
			row.Delete = &form
		}
		rows = append(rows, row)
	}
	return rows, hidden
}

// newAddress is the data of the form that mints an address.
type newAddress struct {
	Form                frame.Form
	Once                string
	LocalPart, Metadata string
	Domain, Back        string
}

// showNewAddress shows the form that mints an address.
func (h *Receiving) showNewAddress(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.addressForm(w, r, v, "", "", nil)
}

func (h *Receiving) addressForm(w http.ResponseWriter, r *http.Request, v people.Visitor, local, metadata string, refused error) {
	d, ok := h.domainOf(w, r, v)
	if !ok {
		return
	}
	problem, status := correctable(refused)
	if refused != nil && problem == "" {
		h.Fail(w, r, v, refused)
		return
	}
	h.Show(w, r, v, status, frame.Screen{
		Page: "address", Title: "Add address", Problem: problem, Head: frame.Head{Parents: []frame.Link{{Path: d.path(), Name: d.Domain}}},
		Data: newAddress{Form: frame.FormTo(v, d.path()+"/addresses"), Once: core.NewID(), LocalPart: local, Metadata: metadata, Domain: d.Domain, Back: d.path()},
	})
}

// createAddress mints an address.
func (h *Receiving) createAddress(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	local, metadata := strings.TrimSpace(r.PostForm.Get("local_part")), strings.TrimSpace(r.PostForm.Get("metadata"))
	arguments := named(r)
	if local != "" {
		arguments["local_part"] = local
	}
	if metadata != "" {
		var object map[string]any
		if err := json.Unmarshal([]byte(metadata), &object); err != nil || object == nil {
			h.addressForm(w, r, v, local, metadata, core.Invalid("metadata", `must be a JSON object, such as {"order": 1043}`))
			return
		}
		arguments["metadata"] = json.RawMessage(metadata)
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "inbound_addresses_create", Arguments: arguments, Once: once}, nil); err != nil {
		h.addressForm(w, r, v, local, metadata, err)
		return
	}
	frame.RedirectWithNotice(w, ListPath+"/"+r.PathValue("id"), "minted")
}

// deleteAddress ends an address.
func (h *Receiving) deleteAddress(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	arguments := named(r)
	arguments["local_part"] = r.PostForm.Get("local_part")
	h.change(w, r, v, "inbound_addresses_delete", arguments, "unminted")
}
