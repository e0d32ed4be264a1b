package frame

import (
	"context"
	"html/template"
	"io/fs"
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/guardrails"
)

// StopPath is the page on which a person stops all mail of the organization, and allows it
// again. One of the rooms has it.
const StopPath = Path + "/stop-mail"

// DeletedPath is the page of a deleted organization. One of the rooms has it.
const DeletedPath = Path + "/organization-deleted"

// Path is the path below which all pages of the dashboard are.
const Path = "/dashboard"

// SecurityPath is the page with the visitor's second factors. It is one of the sign-in
// pages.
const SecurityPath = "/account/security"

// Site checks who a visitor is and writes pages. The sign-in pages implement it.
type Site interface {
	// ParsePage parses a page from template files. One of them must define "content".
	ParsePage(files fs.FS, names ...string) (*template.Template, error)
	// Protect returns a handler that serves each method with its handler. It sets the
	// security headers, limits and parses forms, and refuses forms from other sites.
	Protect(methods map[string]http.HandlerFunc) http.Handler
	// ProtectUpload is Protect for a page whose form sends a file. A POST may have a body of
	// maxBody bytes, which the handler reads.
	ProtectUpload(methods map[string]http.HandlerFunc, maxBody int64) http.Handler
	// AllowUpload gives the client the time that a file needs.
	AllowUpload(w http.ResponseWriter, r *http.Request)
	// Admit returns the signed-in visitor of the request. If it returns false, it has
	// written an error or a redirect: to the sign-in page, or to the setup or proof of a
	// second factor that the organization requires.
	Admit(w http.ResponseWriter, r *http.Request) (people.Visitor, bool)
	// Confirm checks that the visitor has proven a second factor in the last ten minutes, if
	// the organization requires one. If it returns false, it has written an error, or a
	// redirect to the page that asks for the second factor. From that page the browser
	// returns to next, a path of this host.
	Confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool
	// Identify checks that the visitor has proven a second factor in the last ten minutes or,
	// without one, has signed in in the last ten minutes. Its answers are those of Confirm.
	Identify(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool
	// RememberWrite lets WroteLately return true for the requests of the same browser in the next
	// lasts, counted from the answer.
	RememberWrite(w http.ResponseWriter, lasts time.Duration)
	WroteLately(r *http.Request) bool
	// Show writes a page that ParsePage returned, with this status, title and data.
	Show(w http.ResponseWriter, r *http.Request, status int, page *template.Template, title string, data any)
	// Refuse writes a page: heading says what is wrong, text what to do.
	Refuse(w http.ResponseWriter, r *http.Request, status int, heading, text string)
	// Fail writes the page for an error. A refusal is shown with its own message. Any other
	// error is shown as an internal failure, and its cause is only logged.
	Fail(w http.ResponseWriter, r *http.Request, err error)
}

// Organizations lists the organizations between which a visitor may switch.
type Organizations interface {
	// OrganizationsOf returns the organizations of a user, ordered by name.
	OrganizationsOf(ctx context.Context, userID string) ([]core.Org, error)
}

// Membership checks permissions inside a transaction. Require fails with invalid_scope if
// the actor lacks the permission, RequireMember if the actor is not a member. Until the
// transaction ends, other transactions that check or change memberships of the organization
// wait.
type Membership interface {
	Require(ctx context.Context, actor access.Actor, orgID string, p members.Permission) error
	RequireMember(ctx context.Context, actor access.Actor, orgID string) error
}

// AuditLog appends events to the audit log.
type AuditLog interface {
	AppendAudit(ctx context.Context, e access.AuditEvent) error
}

// Operations calls operations through the guardrails. A [guardrails.Catalogue] implements
// it.
type Operations interface {
	// Call calls the operation with this name. It fails only with a *core.Error.
	Call(ctx context.Context, name string, req guardrails.Request) (guardrails.Result, error)
}

// Config configures the frame. All fields are required.
type Config struct {
	Site          Site
	Organizations Organizations
	Membership    Membership
	Transactor    core.Transactor
	Audit         AuditLog
	Clock         core.Clock
	Operations    Operations
	// Pace counts a request of a person. It fails with core.CodeRateLimited if the person
	// sent too many in the last minute, for example by a script with the session cookie.
	Pace func(ctx context.Context, userID string) error
	// Expensive runs a function that reads many rows. The number of such reads at a time is
	// limited. Above the limit, Expensive waits; if no running read ends in time, it fails
	// with core.CodeOverloaded.
	Expensive func(ctx context.Context, orgID string, read func(context.Context) error) error
	// ReplicaLag is how old the data may be that pages which only report read from a replica of the
	// database; 0 means that there is no replica.
	ReplicaLag time.Duration
	// MailStopped reports whether a person stopped all mail of the organization. Every page
	// then says so. nil stands for never.
	MailStopped func(ctx context.Context, orgID string) (bool, error)
	// DocsURL is the address of the documentation, without a trailing slash.
	DocsURL string
	// Areas are the entries of the sidebar, in order.
	Areas []Area
	// Built are the scopes that an operation needs. Pages offer no other scopes.
	Built core.Scopes
}

// Frame has what all pages of the dashboard share: layout, checks of the visitor, and the
// audit log. Page handlers use it through [Pages].
type Frame struct {
	Config
	// needed are the permissions that a page needs. Mux stores them before the first request.
	needed map[members.Permission]bool
	// paths are the paths of all pages. Mux stores them.
	paths []string
}

// Paths returns the paths of all pages that Mux mounted, in the syntax of [http.ServeMux].
func (f *Frame) Paths() []string { return f.paths }

// New returns a frame with this configuration.
func New(cfg Config) *Frame { return &Frame{Config: cfg, needed: map[members.Permission]bool{}} }

// Confirm checks that the visitor has recently proved a second factor, if the organization
// requires one. If it returns false, it has written the response; see [Site].
func (f *Frame) Confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool {
	return f.Site.Confirm(w, r, v, next)
}
