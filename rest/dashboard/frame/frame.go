package frame

import (
	"context"
	"html/template"
	"io/fs"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
)

// Path is the address of the dashboard below the app's origin. Every page of a room has
// a path below this one.
const Path = "/dashboard"

// SecurityPath is the page of the visitor's own second factors. The sign-in pages own it.
const SecurityPath = "/account/security"

// Site identifies visitors and writes pages. The sign-in pages implement it.
type Site interface {
	// ParsePage parses a page from files, of which one defines "content".
	ParsePage(files fs.FS, names ...string) (*template.Template, error)
	// Protect serves the handlers by method. It sets the security headers, bounds and
	// parses the form, and refuses forms from other sites.
	Protect(methods map[string]http.HandlerFunc) http.Handler
	// Admit returns the signed-in visitor of the request. When it returns false, it has
	// written a redirect: to the sign-in page, or to the page for a second factor that the
	// organization requires.
	Admit(w http.ResponseWriter, r *http.Request) (people.Visitor, bool)
	// Confirm requires a second factor proven in the last ten minutes, if the visitor's
	// organization requires one. When it returns false, it has written a redirect to the
	// proof. Afterwards the browser returns to next, a path of this host.
	Confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool
	// Show writes a page that ParsePage returned.
	Show(w http.ResponseWriter, r *http.Request, status int, page *template.Template, title string, data any)
	// Refuse answers with a page that says what is wrong and what to do.
	Refuse(w http.ResponseWriter, r *http.Request, status int, heading, text string)
	// Fail writes the page for an error. A refusal has its own message. Any other error is
	// shown as an internal failure, and its cause is only logged.
	Fail(w http.ResponseWriter, r *http.Request, err error)
}

// Organizations lists the organizations between which a visitor may switch.
type Organizations interface {
	// OrganizationsOf returns the organizations of a user, by name.
	OrganizationsOf(ctx context.Context, userID string) ([]core.Org, error)
}

// Membership checks permissions inside a transaction. Both methods refuse with
// invalid_scope. They lock the organization's members until the transaction ends.
type Membership interface {
	Require(ctx context.Context, actor access.Actor, orgID string, p members.Permission) error
	RequireMember(ctx context.Context, actor access.Actor, orgID string) error
}

// AuditLog stores lines of the audit log.
type AuditLog interface {
	AppendAudit(ctx context.Context, e access.AuditEvent) error
}

// Config is what the frame needs. All members are required.
type Config struct {
	Site          Site
	Organizations Organizations
	Membership    Membership
	Transactor    core.Transactor
	Audit         AuditLog
	Clock         core.Clock
	// Areas are the entries of the navigation, in order.
	Areas []Area
}

// Frame has what all rooms share: layout, admission and audit log. Rooms use it through
// [Pages].
type Frame struct{ Config }

// New returns a frame.
func New(cfg Config) *Frame { return &Frame{cfg} }

// Confirm requires a recent second factor; see [Site].
func (f *Frame) Confirm(w http.ResponseWriter, r *http.Request, v people.Visitor, next string) bool {
	return f.Site.Confirm(w, r, v, next)
}
