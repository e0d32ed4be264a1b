package dashboard

import (
	"embed"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
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
}

// Config is what the dashboard needs. All members are required.
type Config struct {
	Frame       Frame
	Store       access.Store
	Members     access.MemberStore
	Grants      access.GrantStore
	Keys        access.KeyStore
	OpenClients access.OpenClientStore
	Transactor  core.Transactor
	// Principals is what this process remembers of credentials; what the pages
	// change is felt by the next request to it.
	Principals *access.Authenticator
	// AppURL is the origin of the pages.
	AppURL string
	Clock  core.Clock
	Log    *slog.Logger
}
