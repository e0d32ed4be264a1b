package receiving

import (
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// labels has, for each form field, the words that name it in the error text of a refused form.
var labels = frame.Labels{
	"domain": "The domain", "webhook_url": "The URL", "allow_patterns": "The patterns", "local_part": "The local part", "metadata": "The metadata",
	"from": "The beginning", "to": "The end",
}

// domainRow is a domain in the list.
type domainRow struct {
	Path           string
	Name, Host     frame.Wrapped
	State, Webhook mark
}

// domainList is the data of the page that lists the domains.
type domainList struct {
	Rows   []domainRow
	Alarms []string
	Empty  frame.Empty
}

// showDomains lists the domains.
func (h *Receiving) showDomains(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	var all core.Collection[domain]
	err := h.Read(r, v, "inbound_domains_list", nil, &all)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	alarms, err := h.alarms(r, v)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	head := frame.Head{Lead: "Mail to these domains is delivered to your webhooks.", Actions: []frame.Action{{Path: LogPath, Name: "View received mail"}}}
	data := domainList{Empty: frame.Empty{
		Text: "A receiving domain delivers its mail to your program, as signed JSON.", Guide: h.Guide(guide, "Receive mail"),
	}}
	if v.Member.Has(members.MayManageInbound) {
		add := frame.Action{Path: newPath, Name: "Add domain", Primary: true}
		data.Empty.Action = &add
		if len(all.Data) > 0 {
			head.Actions = append([]frame.Action{add}, head.Actions...)
		}
	}
	for _, d := range all.Data {
		row := domainRow{Path: d.path(), Name: frame.Wrapped(d.Domain), State: markOfDomain(d.Status)}
		if d.Webhook != nil {
			row.Host, row.Webhook = frame.Wrapped(hostOf(d.Webhook.URL)), markOfWebhook(d.Webhook.Status)
		}
		data.Rows = append(data.Rows, row)
		if alarm := alarms[d.ID]; alarm != "" {
			data.Alarms = append(data.Alarms, alarm)
		}
	}
	if len(all.Data) > 0 {
		head.Count = strconv.Itoa(len(all.Data))
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "domains", Title: "Receiving domains", Notice: notices.NoticeOf(r), Head: head, Data: data})
}

// newDomain is the data of the form that adds a domain.
type newDomain struct {
	Form   frame.Form
	Once   string
	Domain string
	Back   string
}

// showNew shows the form that adds a domain.
func (h *Receiving) showNew(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.newForm(w, r, v, "", nil)
}

func (h *Receiving) newForm(w http.ResponseWriter, r *http.Request, v people.Visitor, typed string, refused error) {
	problem, status := correctable(refused)
	h.Show(w, r, v, status, frame.Screen{Page: "new", Title: "Add receiving domain", Problem: problem, Data: newDomain{
		Form: frame.FormTo(v, newPath), Once: core.NewID(), Domain: typed, Back: ListPath,
	}})
}

// correctable returns the text and the status with which a form is shown again, also for
// refusals with a code of their own.
func correctable(err error) (string, int) {
	if err == nil {
		return "", http.StatusOK
	}
	switch e := core.AsError(err); e.Code {
	case core.CodeReceivingDomainNotOwned, core.CodeInboundNotDeployed, core.CodeWebhookNotSet:
		return frame.TextOf(err), e.HTTPStatus()
	}
	return labels.Correctable(err)
}

// create adds a domain.
func (h *Receiving) create(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	once, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	typed := r.PostForm.Get("domain")
	var made domain
	_, err := h.Do(r, v, frame.OperationCall{Operation: "inbound_domains_create", Arguments: map[string]any{"domain": typed}, Once: once}, &made)
	if problem, _ := correctable(err); problem != "" {
		h.newForm(w, r, v, typed, err)
		return
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, made.path(), "added")
}

// verify checks the records of a domain.
func (h *Receiving) verify(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.change(w, r, v, "inbound_domains_verify", named(r), "checked")
}

// change calls an operation about the domain of the path, and redirects to its page with a
// notice.
func (h *Receiving) change(w http.ResponseWriter, r *http.Request, v people.Visitor, operation string, arguments map[string]any, notice string) {
	d, ok := h.domainOf(w, r, v)
	if !ok {
		return
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: operation, Arguments: arguments}, nil); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, d.path(), notice)
}

// question is the data of a page that asks for confirmation.
type question struct {
	Form   frame.Form
	Text   string
	Verb   string
	Domain string
	Back   string
}

// ask writes the page that asks for confirmation of a step.
func (h *Receiving) ask(w http.ResponseWriter, r *http.Request, v people.Visitor, title, text, verb string) {
	d, ok := h.domainOf(w, r, v)
	if !ok {
		return
	}
	h.Show(w, r, v, http.StatusOK, frame.Screen{
		Page: "confirm", Title: title, Head: frame.Head{Parents: []frame.Link{{Path: d.path(), Name: d.Domain}}},
		Data: question{Form: frame.FormTo(v, r.URL.Path), Text: text, Verb: verb, Domain: d.Domain, Back: d.path()},
	})
}

// showDelete asks for confirmation before a domain is deleted.
func (h *Receiving) showDelete(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	h.ask(w, r, v, "Delete receiving domain?",
		"Its webhook, its addresses and the stored content of its mail are deleted, and deliveries that wait are not sent. This cannot be undone. Mail that still comes is logged for 30 days, then refused. Remove the MX record as well.", "Delete domain")
}

// delete deletes a domain.
func (h *Receiving) delete(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if _, ok := h.domainOf(w, r, v); !ok {
		return
	}
	if _, err := h.Do(r, v, frame.OperationCall{Operation: "inbound_domains_delete", Arguments: named(r)}, nil); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, ListPath, "deleted")
}
