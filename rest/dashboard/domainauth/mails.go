package domainauth

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/access"
	mails "github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// mailing has the form with which visitors choose what they are mailed about a domain.
type mailing struct {
	Form           frame.Form
	Address        string
	Digest, Alerts bool
}

// mailDesk returns the desk for a visitor, and the domain with a name. The desk checks inside its
// transactions that the visitor may still see the domain.
func (h setupPages) mailDesk(r *http.Request, v people.Visitor, name string) (mails.Desk, mails.Ref, error) {
	d, err := h.Store.Domain(r.Context(), v.Org.ID, name)
	desk := mails.Desk{Store: h.Subscriptions, Transactor: h.TransactorWith(v, members.MayViewDomainAuth), Audit: h.Audit, Clock: h.Clock}
	return desk, mails.Ref{OrgID: v.Org.ID, DomainID: d.ID, Domain: d.Domain}, err
}

// mailingOf returns the form with what the visitor chose before.
func (h setupPages) mailingOf(r *http.Request, v people.Visitor, name string) (mailing, error) {
	desk, domain, err := h.mailDesk(r, v, name)
	if err != nil {
		return mailing{}, err
	}
	chosen, err := desk.Choice(r.Context(), v.User.ID, domain)
	return mailing{Form: frame.FormTo(v, domainPath(name)+"/mails"), Address: frame.PlainName(v.User.Email), Digest: chosen.Digest, Alerts: chosen.Alerts}, err
}

// chooseMails stores what the visitor wants to be mailed, and returns to the page with the form.
func (h setupPages) chooseMails(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	desk, domain, err := h.mailDesk(r, v, r.PathValue("domain"))
	if err == nil {
		err = desk.Choose(r.Context(), access.ActorOf(v.User.ID), domain, mails.Choice{Digest: r.PostForm.Get("digest") != "", Alerts: r.PostForm.Get("alerts") != ""})
	}
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.RedirectWithNotice(w, domainPath(domain.Domain)+tabSetup, "mails_chosen")
}
