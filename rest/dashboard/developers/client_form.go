package developers

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// defaultRefreshDays is the lifetime of grants that is preselected for a new client, in
// days.
const defaultRefreshDays = 90

// clientFields are the values of the form with which an OAuth client is registered or
// edited.
type clientFields struct {
	Name        string
	Environment core.Environment
	Public      bool
	Redirects   string // redirect URIs, one on each line
	RefreshDays string
	Scopes      core.Scopes
}

// readClientFields returns the values of a submitted form for an OAuth client, unchecked.
func readClientFields(r *http.Request) clientFields {
	return clientFields{
		Name: r.PostForm.Get(fieldName), Environment: core.Environment(r.PostForm.Get(fieldEnvironment)),
		Public: r.PostForm.Get("kind") == "public", Redirects: r.PostForm.Get(fieldRedirects),
		RefreshDays: r.PostForm.Get(fieldRefresh), Scopes: chosenScopes(r),
	}
}

// fieldsOf returns the form values of an existing client.
func fieldsOf(c access.Client) clientFields {
	return clientFields{
		Name: c.Name, Environment: c.Environment, Public: c.SecretHash == nil, Redirects: strings.Join(c.RedirectURIs, "\n"),
		RefreshDays: strconv.Itoa(c.RefreshDays), Scopes: c.Scopes,
	}
}

// days returns the chosen lifetime of grants in days. It fails only for a text that is no
// number; core/access checks which numbers are allowed.
func (f clientFields) days() (int, error) {
	days, err := strconv.Atoi(f.RefreshDays)
	if err != nil {
		return 0, core.Invalid(fieldRefresh, "must be one of the choices on the page")
	}
	return days, nil
}

// addresses returns the redirect URIs in the form, one from each line. For an unusable URI
// it fails, and the error states which URI of the list it is. The error of the later check
// in core/access does not state that.
func (f clientFields) addresses() ([]string, error) {
	var uris []string
	for _, line := range strings.Split(f.Redirects, "\n") {
		uri := strings.TrimSpace(line)
		if uri == "" {
			continue
		}
		uris = append(uris, uri)
		if err := access.CheckRedirectURI(uri); err != nil {
			const shown = 60
			return nil, core.Invalid(fieldRedirects, fmt.Sprintf("are not all valid: number %d, %s, %s", len(uris), core.Quotable(uri, shown), err))
		}
	}
	return uris, nil
}

// clientForm is the data of the page with the form for a new or an existing client.
type clientForm struct {
	Form frame.Form
	// Once is the id that the new client gets, so that a form sent twice creates one client.
	// The field Here has the path to which the form is sent.
	Once   string
	Here   string
	Fields clientFields
	// Areas has all scopes in groups, with the chosen scopes marked.
	Areas     []scopeArea
	Roles     frame.RoleChoices
	Lifetimes []lifetime
	// Client is the client that is edited; nil for a new one.
	Client *clientRow
}

// lifetime is an option of the select field for the lifetime of grants.
type lifetime struct {
	Value, Name string
	Chosen      bool
}

// lifetimes returns the options for the lifetime of grants. chosen is the selected number
// of days, as text.
func lifetimes(chosen string) []lifetime {
	all := []lifetime{
		{Value: "30", Name: "30 days after it was granted"},
		{Value: "90", Name: "90 days after it was granted"},
		{Value: "365", Name: "365 days after it was granted"},
		{Value: "0", Name: "Never, until the access is revoked"},
	}
	for i := range all {
		all[i].Chosen = all[i].Value == chosen
	}
	return all
}

// clientForm writes the page with the form, filled with the values of f. c is the client
// that is edited, or nil for a new one. refused is the error of the submitted form, or nil.
func (h clientHandlers) clientForm(w http.ResponseWriter, r *http.Request, v people.Visitor, c *access.Client, f clientFields, refused error) {
	status := http.StatusOK
	if refused != nil {
		status = core.AsError(refused).HTTPStatus()
	}
	data, title, has := clientForm{Once: core.NewID(), Here: ClientsPath + "/new", Fields: f, Lifetimes: lifetimes(f.RefreshDays)}, "New application", core.Scopes(nil)
	if c != nil {
		row := newClientRow(*c)
		data.Client, data.Here, title, has = &row, row.Path+"/edit", "Edit "+row.Name, c.Scopes
	}
	data.Form, data.Areas = frame.FormTo(v, data.Here), h.scopeChoices(f.Scopes, has, v.Member)
	data.Roles = h.roleChoices(data.Here, v.Member)
	shown := frame.Screen{Page: "client_form", Title: title, Problem: labels.Problem(refused), Data: data}
	if data.Client != nil {
		shown.Head = underClient(*data.Client)
	}
	h.Show(w, r, v, status, shown)
}

// showNewClient shows the form for a new client. If the organization requires a recent
// second factor, it first asks the visitor to prove one.
func (h clientHandlers) showNewClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Confirm(w, r, v, ClientsPath+"/new") {
		return
	}
	h.clientForm(w, r, v, nil, clientFields{
		Environment: core.Live, RefreshDays: strconv.Itoa(defaultRefreshDays), Scopes: h.startingScopes(r, nil, v.Member),
	}, nil)
}

// createClient registers a client and shows its secret once. A refused form is shown again
// with its values.
func (h clientHandlers) createClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !h.Confirm(w, r, v, ClientsPath+"/new") {
		return
	}
	id, ok := h.ReadOnceID(w, r, v)
	if !ok {
		return
	}
	f := readClientFields(r)
	c, secret, err := h.register(r.Context(), v, id, f)
	switch {
	case frame.IsRepeated(err):
		h.RefuseRepeated(w, r, v, ClientsPath, !f.Public)
	case err == nil:
		h.showClientSecret(w, r, v, clientSecret{Client: newClientRow(c), Secret: secret, New: true})
	case labels.Problem(err) != "":
		h.clientForm(w, r, v, nil, f, err)
	default:
		h.Fail(w, r, v, err)
	}
}

// register stores a new client under the id that the form contains. If the same form is
// sent a second time, register fails, because the id exists. It returns the client and its
// secret, which is "" for a public client.
func (h clientHandlers) register(ctx context.Context, v people.Visitor, id string, f clientFields) (access.Client, string, error) {
	uris, err := f.addresses()
	if err != nil {
		return access.Client{}, "", err
	}
	days, err := f.days()
	if err != nil {
		return access.Client{}, "", err
	}
	var c access.Client
	var secret string
	err = h.manageCredentials(ctx, v, func(ctx context.Context, m members.Member) error {
		if err := checkGiven(f.Scopes, nil, m); err != nil {
			return err
		}
		c, secret, err = h.lifecycle(v).CreateClient(ctx, access.ActorOf(v.User.ID), access.NewClient{
			ID: id, OrgID: v.Org.ID, Name: f.Name, Environment: f.Environment, Scopes: f.Scopes, Public: f.Public,
			RedirectURIs: uris, RefreshDays: days,
		})
		return err
	})
	return c, secret, err
}

// showEditClient shows the form for editing an active client.
func (h clientHandlers) showEditClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if c, ok := h.workingClientOf(w, r, v); ok {
		f := fieldsOf(c)
		f.Scopes = h.startingScopes(r, c.Scopes, v.Member)
		h.clientForm(w, r, v, &c, f, nil)
	}
}

// editClient changes a client and redirects to its page. A refused form is shown again with
// its values.
func (h clientHandlers) editClient(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	c, ok := h.workingClientOf(w, r, v)
	if !ok {
		return
	}
	f := readClientFields(r)
	err := h.withClient(r.Context(), v, c.ID, func(ctx context.Context, m members.Member, c access.Client) error {
		return h.store(ctx, v, m, c, f)
	})
	switch {
	case err == nil:
		frame.RedirectWithNotice(w, ClientsPath+"/"+c.ID, "edited")
	case labels.Problem(err) != "":
		h.clientForm(w, r, v, &c, f, err)
	default:
		h.Fail(w, r, v, err)
	}
}

// store replaces the name, scopes, redirect URIs and lifetime of client c with those of the
// form. It refuses an added scope that the permissions of member m do not cover. It refuses
// an added redirect URI if m's permissions do not cover all scopes in the form.
func (h clientHandlers) store(ctx context.Context, v people.Visitor, m members.Member, c access.Client, f clientFields) error {
	uris, err := f.addresses()
	if err != nil {
		return err
	}
	if err := checkSentTo(c.RedirectURIs, uris, f.Scopes, m); err != nil {
		return err
	}
	c.RedirectURIs = uris
	if c.RefreshDays, err = f.days(); err != nil {
		return err
	}
	if err := checkGiven(f.Scopes, c.Scopes, m); err != nil {
		return err
	}
	c.Name, c.Scopes = f.Name, f.Scopes
	_, err = h.lifecycle(v).EditClient(ctx, access.ActorOf(v.User.ID), c)
	return err
}

// withClient reads a client and calls the function do with the client. Both happen in a
// transaction in which the visitor is permitted to manage credentials. The read locks the
// client, so that the client cannot change before the commit.
func (h clientHandlers) withClient(ctx context.Context, v people.Visitor, id string, do func(context.Context, members.Member, access.Client) error) error {
	err := h.manageCredentials(ctx, v, func(ctx context.Context, m members.Member) error {
		c, err := h.Clients.ClientByID(ctx, v.Org.ID, id)
		if err != nil {
			return err
		}
		return do(ctx, m, c)
	})
	// The change inside the transaction has removed the client from the cache. A request
	// may have cached the old client again before the commit, so it is removed once more.
	h.Lifecycle.Principals.Forget(id)
	return err
}
