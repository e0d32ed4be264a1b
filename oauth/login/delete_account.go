package login

import (
	"context"
	"html/template"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/people"
)

// Accounts deletes the accounts of people; core/closing implements it.
type Accounts interface {
	// PlanDelete returns what Delete would delete. It changes nothing.
	PlanDelete(ctx context.Context, userID string) (closing.Deleted, error)
	// Delete deletes a person. It fails with core.CodeConflict for the last owner of an
	// organization.
	Delete(ctx context.Context, actor access.Actor, userID string, o closing.Options) (closing.Deleted, error)
}

// deletionForm is the data of the page on which a person deletes the own account.
type deletionForm struct {
	Email, Token string
	Problem      string // "" without a problem
	// LastOwnerOf are the organizations because of which the account cannot be deleted.
	Organizations, LastOwnerOf []core.Org
	Grants                     int
}

// deletionPages serve the page on which a person deletes the own account.
type deletionPages struct {
	*Admission
	accounts   Accounts
	page, done *template.Template
}

// identified returns the signed-in person after a recent proof of identity. If it returns
// false, it has written the response: a redirect to the page that asks for the proof, or an
// error.
func (p *deletionPages) identified(w http.ResponseWriter, r *http.Request) (people.Visitor, bool) {
	v, ok := p.signedInVisitor(w, r, DeletePath)
	if !ok {
		return people.Visitor{}, false
	}
	return v, p.Identify(w, r, v, DeletePath)
}

// Identify checks that the person has recently proved a second factor or, without one, has
// recently signed in. If it returns false, it has written the response: a redirect to the page
// that asks for the proof, or an error. After that page the browser goes to next, a path of
// this host.
func (a *Admission) Identify(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool {
	_, err := a.factors.CheckIdentity(r.Context(), v)
	switch {
	case err == nil:
		return true
	case people.IsProofNeeded(err):
		seeOther(w, withNext(ConfirmPath, localPath(next)))
	default:
		a.Fail(w, r, err)
	}
	return false
}

// showDeletion shows what is deleted with the account, and the form.
func (p *deletionPages) showDeletion(w http.ResponseWriter, r *http.Request) {
	if v, ok := p.identified(w, r); ok {
		p.askDeletion(w, r, v, nil)
	}
}

// askDeletion writes the page. If wrong is not nil, the page shows this error.
func (p *deletionPages) askDeletion(w http.ResponseWriter, r *http.Request, v people.Visitor, wrong *core.Error) {
	plan, err := p.accounts.PlanDelete(r.Context(), v.User.ID)
	if err != nil {
		p.Fail(w, r, err)
		return
	}
	form := deletionForm{
		Email: v.User.Email, Token: v.FormToken(DeletePath), Organizations: plan.Organizations, LastOwnerOf: plan.LastOwnerOf, Grants: plan.Grants,
	}
	status := http.StatusOK
	if wrong != nil {
		status, form.Problem = wrong.HTTPStatus(), wrong.Message+" "+wrong.NextStep()
	}
	p.showSignedIn(w, r, v, status, p.page, "Delete account", form)
}

// deleteAccount deletes the account of a person who typed the address, and says so.
func (p *deletionPages) deleteAccount(w http.ResponseWriter, r *http.Request) {
	v, ok := p.identified(w, r)
	if !ok || !p.checkToken(w, r, v, DeletePath) {
		return
	}
	if typed := r.PostForm.Get("email"); core.EmailKey(typed) != core.EmailKey(v.User.Email) {
		p.askDeletion(w, r, v, &core.Error{
			Code: core.CodeValidationFailed, Message: "The typed address is not the address of your account.", Next: "Type " + v.User.Email + ".",
		})
		return
	}
	_, err := p.accounts.Delete(r.Context(), access.ActorOf(v.User.ID), v.User.ID, closing.Options{RequestID: requestID(r)})
	e := core.AsError(err)
	switch {
	case err == nil:
		p.cookies.session.clear(w)
		p.Show(w, r, http.StatusOK, p.done, "Account deleted", v.User.Email)
	case e.Code == core.CodeConflict:
		p.logRefusal(r, "deletion of an account", e)
		p.askDeletion(w, r, v, e)
	default:
		p.Fail(w, r, err)
	}
}
