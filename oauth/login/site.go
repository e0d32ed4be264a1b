package login

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// The paths of the pages, below the app's address.
const (
	SignInPath            = "/login"
	SignOutPath           = "/logout"
	SignOutEverywherePath = "/logout-everywhere"
	SwitchOrgPath         = "/switch-org"
	StylePath             = "/login/style.css"
)

// Config is what the pages need. All members are required.
type Config struct {
	Sessions *access.Sessions
	// AppURL is the origin of the pages, without a slash at the end. Its scheme
	// decides about the cookie.
	AppURL  string
	DocsURL string
	Log     *slog.Logger
}

// Site is the pages for signing in and out, and the frame of the others.
type Site struct {
	sessions *access.Sessions
	cookie   cookie
	docsURL  string
	log      *slog.Logger
	origins  *http.CrossOriginProtection
	pages    pages
}

// New makes the pages. It fails when a template does not parse.
func New(cfg Config) (*Site, error) {
	own, err := parsePages()
	if err != nil {
		return nil, err
	}
	s := &Site{
		sessions: cfg.Sessions, cookie: cookieFor(strings.HasPrefix(cfg.AppURL, "https://")),
		docsURL: cfg.DocsURL, log: cfg.Log, origins: http.NewCrossOriginProtection(), pages: own,
	}
	s.origins.SetDenyHandler(http.HandlerFunc(s.crossOrigin))
	return s, nil
}

// Routes are the handlers by path. A path is exact.
func (s *Site) Routes() map[string]http.Handler {
	return map[string]http.Handler{
		SignInPath:            s.Protect(Methods{http.MethodGet: s.showSignIn, http.MethodPost: s.signIn}),
		SignOutPath:           s.Protect(Methods{http.MethodPost: s.signOut}),
		SignOutEverywherePath: s.Protect(Methods{http.MethodPost: s.signOutEverywhere}),
		SwitchOrgPath:         s.Protect(Methods{http.MethodPost: s.switchOrg}),
		StylePath:             http.HandlerFunc(serveStyle),
	}
}

// Visitor is who sent the request. It fails with invalid_key when nobody is
// signed in.
func (s *Site) Visitor(r *http.Request) (access.Visitor, error) {
	return s.sessions.Current(r.Context(), s.cookie.read(r))
}

// AskToSignIn leads to the sign-in page, and from there back to next, a path of
// this host with its query.
func (s *Site) AskToSignIn(w http.ResponseWriter, next string) {
	seeOther(w, signInAddress(next))
}

// Organizations lists where the visitor may switch to.
func (s *Site) Organizations(r *http.Request, v access.Visitor) ([]core.Org, error) {
	return s.sessions.Organizations(r.Context(), v.User.ID)
}

func (s *Site) crossOrigin(w http.ResponseWriter, r *http.Request) {
	s.Refuse(w, r, http.StatusForbidden, "This form came from another site",
		"Nothing was done. Open the page here and try again.")
}
