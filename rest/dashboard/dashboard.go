package dashboard

import (
	"context"
	"embed"
	"html/template"
	"io/fs"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/suppression"
)

// Path is where the dashboard is, below the app's address. Every page of it has a
// path below this one.
const Path = "/dashboard"

//go:embed pages/*.html
var templates embed.FS

// Frame is what every page for people stands in: who is signed in, the headers,
// the stylesheet. The sign-in pages have it, which are not this package's to know.
type Frame interface {
	// ParsePage makes a page from files of which the first defines "content".
	ParsePage(files fs.FS, names ...string) (*template.Template, error)
	// Protect puts handlers by method behind the headers, the limit on forms, and
	// the refusal of forms from other sites. The form is parsed when they run.
	Protect(methods map[string]http.HandlerFunc) http.Handler
	// Admit finds who sent the request. It has answered when it returns false: with
	// the way to the sign-in page, or, where the organization requires a second
	// factor, with the way to setting one up or proving it.
	Admit(w http.ResponseWriter, r *http.Request) (access.Visitor, bool)
	// Confirm asks for a second factor that was proven in the last ten minutes, when
	// the visitor's organization requires one. It has answered when it returns
	// false; afterwards the browser comes back to next, a path of this host.
	Confirm(w http.ResponseWriter, r *http.Request, v access.Visitor, next string) bool
	Show(w http.ResponseWriter, r *http.Request, status int, page *template.Template, title string, data any)
	// Refuse answers with a page that says what is wrong and what to do.
	Refuse(w http.ResponseWriter, r *http.Request, status int, heading, text string)
	// Fail answers an error: a refusal in its own words, anything else as a failure
	// of ours, with its cause in the log alone.
	Fail(w http.ResponseWriter, r *http.Request, err error)

	// What the page of an invitation needs, which is also for those who are not
	// signed in.

	// Visitor is who sent the request. SignedOut tells the error for nobody.
	Visitor(r *http.Request) (access.Visitor, error)
	SignedOut(err error) bool
	// SignInAddress is where to sign in and then go on to next, a path of this host.
	SignInAddress(next string) string
	// ProvePassword checks a password as signing in does, and begins no session.
	ProvePassword(r *http.Request, email, password string) (access.User, error)
	// Enter begins the first session of an account that was just made.
	Enter(w http.ResponseWriter, r *http.Request, member access.Member) error
	// WorkIn moves the visitor's session to another organization of theirs.
	WorkIn(r *http.Request, orgID string) error
}

// Config is what the dashboard needs. All members are required.
type Config struct {
	Frame Frame
	access.Stores
	Orgs        access.OrgStore
	Users       access.UserStore
	Members     access.MemberStore
	Invitations access.InvitationStore
	Factors     *access.SecondFactors
	Suppression *suppression.Suppression
	Transactor  core.Transactor
	Reports     *reports.Reports
	// Account and Channels are the tasks on the sending account.
	Account  *account.Account
	Channels *channels.Channels
	// Connecting changes how the account is reached. Its Record is not used: what
	// people do here is recorded as theirs.
	Connecting sending.Connecting
	// SyncAccount has everything that is mirrored of an organization's account read
	// soon, in the transaction of its context. It reports false when that is under way
	// already.
	SyncAccount func(ctx context.Context, orgID string) (bool, error)
	// Sending is asked when somebody verifies the account.
	Sending sending.Account
	// EventsAddress is where the events of a connection with this path are sent to.
	EventsAddress func(ingestPath string) string
	// Principals is what this process remembers of credentials; what the pages
	// change is felt by the next request to it.
	Principals *access.Authenticator
	// AppURL is the origin of the pages.
	AppURL string
	// The addresses that the overview shows for copying.
	APIURL, MCPURL, AuthURL string
	// DocsURL is where the documentation is, whose guides the pages lead to.
	DocsURL string
	Clock   core.Clock
	// Expensive runs a read that may look at much of what an organization has, when it is
	// its turn.
	Expensive func(ctx context.Context, orgID string, read func(context.Context) error) error
}

// Dashboard is the pages below [Path].
type Dashboard struct {
	Config
	pages map[string]func() (*template.Template, error) // by file name without its ending
}

// New makes the handler of [JoinPath] and everything below [Path].
func New(cfg Config) (http.Handler, error) {
	d := &Dashboard{Config: cfg}
	if err := d.listPages(); err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	for _, r := range d.routes() {
		mux.Handle(Path+r.path, d.handler(r))
	}
	mux.Handle(JoinPath, d.join())
	mux.Handle("/", d.handler(route{get: d.noSuchPage, post: d.noSuchPage}))
	return mux, nil
}

// lifecycle is the tasks on credentials, for a visitor who may manage them; what
// they change is felt by the next request to this process.
func (d *Dashboard) lifecycle(v access.Visitor) access.Lifecycle {
	return access.Lifecycle{
		Stores: d.Stores, Orgs: d.Orgs, Transactor: d.permitted(v, access.MayManageCredentials), Clock: d.Clock, Principals: d.Principals,
	}
}
