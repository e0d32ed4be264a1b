package dashboard

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// defaultRefreshDays is what a new client begins with.
const defaultRefreshDays = 90

// clientFields is the content of the form of a client.
type clientFields struct {
	Name        string
	Environment core.Environment
	Public      bool
	Redirects   string // one in a line
	RefreshDays string
	Scopes      core.Scopes
}

func readClientFields(r *http.Request) clientFields {
	return clientFields{
		Name: r.PostForm.Get(fieldName), Environment: core.Environment(r.PostForm.Get(fieldEnvironment)),
		Public: r.PostForm.Get("kind") == "public", Redirects: r.PostForm.Get(fieldRedirects),
		RefreshDays: r.PostForm.Get(fieldRefresh), Scopes: chosenScopes(r),
	}
}

func fieldsOf(c access.Client) clientFields {
	return clientFields{
		Name: c.Name, Environment: c.Environment, Public: c.SecretHash == nil, Redirects: strings.Join(c.RedirectURIs, "\n"),
		RefreshDays: strconv.Itoa(c.RefreshDays), Scopes: c.Scopes,
	}
}

// days is the lifetime that was chosen, one of those that the task takes.
func (f clientFields) days() (int, error) {
	days, err := strconv.Atoi(f.RefreshDays)
	if err != nil {
		return 0, core.Invalid(fieldRefresh, "must be one of those in the list")
	}
	return days, nil
}

// addresses are the redirect URIs. Each is checked here, although the task does
// it too, to say which line is wrong.
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
			return nil, core.Invalid(fieldRedirects, fmt.Sprintf("are not all usable: number %d, %s, %s", len(uris), core.Quotable(uri, shown), err))
		}
	}
	return uris, nil
}

// clientForm is what the page with the form shows.
type clientForm struct {
	Form      form
	Once      string // see onceOf
	Here      string
	Fields    clientFields
	Areas     []scopeArea
	Lifetimes []lifetime
	// Client is the one that is edited; nil for a new one.
	Client *clientRow
}

type lifetime struct {
	Value, Name string
	Chosen      bool
}

func lifetimes(chosen string) []lifetime {
	all := []lifetime{
		{Value: "30", Name: "30 days after it was allowed"},
		{Value: "90", Name: "90 days after it was allowed"},
		{Value: "365", Name: "365 days after it was allowed"},
		{Value: "0", Name: "Never, until somebody ends it"},
	}
	for i := range all {
		all[i].Chosen = all[i].Value == chosen
	}
	return all
}

// clientForm shows the form as it is filled in; c is the client that is edited,
// or nil, and refused is what was wrong, or nil.
func (d *Dashboard) clientForm(w http.ResponseWriter, r *http.Request, v access.Visitor, c *access.Client, f clientFields, refused error) {
	status := http.StatusOK
	if refused != nil {
		status = core.AsError(refused).HTTPStatus()
	}
	data, title, has := clientForm{Once: core.NewID(), Here: clientsPath + "/new", Fields: f, Lifetimes: lifetimes(f.RefreshDays)}, "New application", core.Scopes(nil)
	if c != nil {
		row := newClientRow(*c)
		data.Client, data.Here, title, has = &row, row.Path+"/edit", "Change "+row.Name, c.Scopes
	}
	data.Form, data.Areas = formTo(v, data.Here), scopeChoices(f.Scopes, has, v.Member)
	d.show(w, r, v, status, screen{page: "client_form", title: title, problem: problemOf(refused), data: data})
}

func (d *Dashboard) showNewClient(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if !d.Frame.Confirm(w, r, v, clientsPath+"/new") {
		return
	}
	d.clientForm(w, r, v, nil, clientFields{
		Environment: core.Live, RefreshDays: strconv.Itoa(defaultRefreshDays), Scopes: preset(r, v.Member),
	}, nil)
}

func (d *Dashboard) createClient(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if !d.Frame.Confirm(w, r, v, clientsPath+"/new") {
		return
	}
	id, ok := d.onceOf(w, r, v)
	if !ok {
		return
	}
	f := readClientFields(r)
	c, secret, err := d.register(r.Context(), v, id, f)
	switch {
	case sentBefore(err):
		d.refuseAgain(w, r, v, clientsPath)
	case err == nil:
		d.showClientSecret(w, r, v, clientSecret{Client: newClientRow(c), Secret: secret, New: true})
	case problemOf(err) != "":
		d.clientForm(w, r, v, nil, f, err)
	default:
		d.fail(w, r, v, err)
	}
}

func (d *Dashboard) register(ctx context.Context, v access.Visitor, id string, f clientFields) (access.Client, string, error) {
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
	err = d.managingCredentials(ctx, v, func(ctx context.Context, m access.Member) error {
		if err := checkGiven(f.Scopes, nil, m); err != nil {
			return err
		}
		c, secret, err = d.lifecycle(v).CreateClient(ctx, access.ActorOf(v.User.ID), access.NewClient{
			ID: id, OrgID: v.Org.ID, Name: f.Name, Environment: f.Environment, Scopes: f.Scopes, Public: f.Public,
			RedirectURIs: uris, RefreshDays: days,
		})
		return err
	})
	return c, secret, err
}

func (d *Dashboard) showEditClient(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	if c, ok := d.workingClientOf(w, r, v); ok {
		d.clientForm(w, r, v, &c, fieldsOf(c), nil)
	}
}

func (d *Dashboard) editClient(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	c, ok := d.workingClientOf(w, r, v)
	if !ok {
		return
	}
	f := readClientFields(r)
	err := d.withClient(r.Context(), v, c.ID, func(ctx context.Context, m access.Member, c access.Client) error {
		return d.store(ctx, v, m, c, f)
	})
	switch {
	case err == nil:
		noticed(w, clientsPath+"/"+c.ID, "edited")
	case problemOf(err) != "":
		d.clientForm(w, r, v, &c, f, err)
	default:
		d.fail(w, r, v, err)
	}
}

// store puts the content of the form in the place of what c says, as far as m may.
func (d *Dashboard) store(ctx context.Context, v access.Visitor, m access.Member, c access.Client, f clientFields) error {
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
	_, err = d.lifecycle(v).EditClient(ctx, access.ActorOf(v.User.ID), c)
	return err
}

// withClient does something with a client that nobody else changes meanwhile; see
// managingCredentials.
func (d *Dashboard) withClient(ctx context.Context, v access.Visitor, id string, do func(context.Context, access.Member, access.Client) error) error {
	err := d.managingCredentials(ctx, v, func(ctx context.Context, m access.Member) error {
		c, err := d.Clients.ClientByID(ctx, v.Org.ID, id)
		if err != nil {
			return err
		}
		return do(ctx, m, c)
	})
	d.Principals.Forget(id) // once more: the task inside did it before the commit
	return err
}
