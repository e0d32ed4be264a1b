package approvals

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/approvals"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// applicationPage is the data of the page of one application. Cap is a text, so that the
// form can show invalid input again.
type applicationPage struct {
	policyForm
	ClientID, Cap, Back string
	// Today is the number of recipients that the application has mailed today.
	Today string
}

// showApplication shows the policy and the daily limit of an application.
func (h policyHandlers) showApplication(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("application")
	all, err := h.Store.Policies(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	caps, err := h.Stops.Caps(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	p, limit := policyOf(all, id), ""
	if n, has := caps[id]; has {
		limit = strconv.Itoa(n)
	}
	h.applicationPage(w, r, v, p, aboveText(p), limit, "", http.StatusOK)
}

// applicationPage writes the page of the application that the request names.
func (h policyHandlers) applicationPage(w http.ResponseWriter, r *http.Request, v people.Visitor, p approvals.Policy, above, limit, problem string, status int) {
	if !core.IsID(p.Application) {
		h.NoSuchPage(w, r, v)
		return
	}
	c, err := h.Actors.Records(v.Org.ID).Credential(r.Context(), p.Application)
	if err == nil && c.Kind != core.OAuthClient {
		err = core.NotFound("application")
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	form, err := h.formOf(r, v, PolicyPath+"/"+p.Application, p, above)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	today, err := handover.UsedToday(r.Context(), h.Stops, v.Org.ID, p.Application, h.Limits.Clock())
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	name := frame.PlainName(c.Name)
	head := frame.Head{Title: name, Lead: "Which sends of this application wait, and how many recipients a day it may mail."}
	data := applicationPage{policyForm: form, ClientID: c.ClientID, Cap: limit, Back: PolicyPath, Today: core.WithCommas(today)}
	h.Show(w, r, v, status, frame.Screen{Page: "application", Title: name, Head: head, Problem: problem, Data: data})
}

// saveApplication stores the policy and the daily limit of an application, and redirects to
// the page of policies.
func (h policyHandlers) saveApplication(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	id := r.PathValue("application")
	if c, err := h.Actors.Records(v.Org.ID).Credential(r.Context(), id); err != nil || c.Kind != core.OAuthClient {
		h.NoSuchPage(w, r, v)
		return
	}
	p, above := typedPolicy(r, id)
	limit := strings.TrimSpace(r.PostForm.Get("recipients_a_day"))
	var recipients *int
	if limit != "" {
		n, _ := strconv.Atoi(limit) // 0 for a text that is no number is refused
		recipients = &n
	}
	err := h.TransactorWith(v, members.MayManageOrg).InTx(r.Context(), func(ctx context.Context) error {
		by := access.ActorOf(v.User.ID)
		if err := h.Policies.Set(ctx, by, v.Org.ID, p); err != nil {
			return err
		}
		return h.Limits.SetCap(ctx, by, v.Org.ID, id, recipients)
	})
	if problem, status := labels.Correctable(err); problem != "" {
		h.applicationPage(w, r, v, p, above, limit, problem, status)
		return
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, PolicyPath, "saved")
}
