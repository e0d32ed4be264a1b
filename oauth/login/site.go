package login

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/oauth/proxies"
)

// The paths of the pages below the app's address.
const (
	SignInPath            = "/login"
	SignOutPath           = "/logout"
	SignOutEverywherePath = "/logout-everywhere"
	SwitchOrgPath         = "/switch-org"
	StylePath             = "/login/style.css"
	ScriptPath            = "/login/passkey.js"
	SecondFactorPath      = "/login/second-factor"
	ConfirmPath           = "/login/confirm"
	SecurityPath          = "/account/security"
	PasswordPath          = "/account/security/password" //nolint:gosec // a path, no secret
	ForgottenPath         = "/login/forgotten"
	NewPasswordPath       = "/login/new-password" //nolint:gosec // a path, no secret
)

const passkeyPath = "/login/passkey"

// Config configures the pages. All fields except Proxies are required.
type Config struct {
	Sessions  *people.Sessions
	Factors   *people.SecondFactors
	Passwords *people.Passwords
	// Devices stores the devices on which people signed in. Package core/attempts
	// implements it.
	Devices Devices
	// AppURL is the origin of the pages, without a trailing slash. Its scheme
	// determines the cookie's name and Secure attribute.
	AppURL  string
	DocsURL string
	// Proxies are the proxies whose forwarding headers are trusted.
	Proxies proxies.Trusted
	Log     *slog.Logger
}

// Devices remembers known devices.
type Devices interface {
	// Remember records that a person has signed in on a device. It returns the secret
	// for the device's cookie, which is the given one if it belongs to a device of this
	// person.
	Remember(ctx context.Context, userID, secret string) (string, error)
}

// Site has the pages for signing in and out, and the frame of other pages.
type Site struct {
	sessions  *people.Sessions
	factors   *people.SecondFactors
	passwords *people.Passwords
	devices   Devices
	cookies   cookies
	docsURL   string
	proxies   proxies.Trusted
	log       *slog.Logger
	origins   *http.CrossOriginProtection
	pages     pages
}

// New returns the pages. It fails when a template does not parse.
func New(cfg Config) (*Site, error) {
	own, err := parsePages()
	if err != nil {
		return nil, err
	}
	s := &Site{
		sessions: cfg.Sessions, factors: cfg.Factors, passwords: cfg.Passwords, devices: cfg.Devices,
		cookies: cookiesFor(strings.HasPrefix(cfg.AppURL, "https://")),
		docsURL: cfg.DocsURL, proxies: cfg.Proxies, log: cfg.Log, origins: http.NewCrossOriginProtection(), pages: own,
	}
	s.origins.SetDenyHandler(http.HandlerFunc(s.crossOrigin))
	return s, nil
}

// Routes returns the handlers by path. Paths match exactly.
func (s *Site) Routes() map[string]http.Handler {
	routes := map[string]http.Handler{
		SignInPath:            s.Protect(Methods{http.MethodGet: s.showSignIn, http.MethodPost: s.signIn}),
		SignOutPath:           s.Protect(Methods{http.MethodPost: s.signOut}),
		SignOutEverywherePath: s.Protect(Methods{http.MethodPost: s.signOutEverywhere}),
		SwitchOrgPath:         s.Protect(Methods{http.MethodPost: s.switchOrg}),
		StylePath:             serveFile("text/css", stylesheet),
		ScriptPath:            serveFile("text/javascript", passkeyScript),

		SecondFactorPath:          s.Protect(Methods{http.MethodGet: s.showProof, http.MethodPost: s.prove}),
		ConfirmPath:               s.Protect(Methods{http.MethodGet: s.showProof, http.MethodPost: s.prove}),
		ConfirmPath + "/question": s.Protect(Methods{http.MethodPost: s.askProofPasskey}),
		passkeyPath:               s.Protect(Methods{http.MethodPost: s.signInWithPasskey}),
		passkeyPath + "/question": s.Protect(Methods{http.MethodPost: s.askSignIn}),
		SecurityPath:              s.Protect(Methods{http.MethodGet: s.showSecurity}),

		PasswordPath:    s.Protect(Methods{http.MethodGet: s.showPassword, http.MethodPost: s.changePassword}),
		ForgottenPath:   s.Protect(Methods{http.MethodGet: s.showForgotten, http.MethodPost: s.askReset}),
		NewPasswordPath: s.Protect(Methods{http.MethodGet: s.showNewPassword, http.MethodPost: s.resetPassword}),
	}
	for path, change := range map[string]http.HandlerFunc{
		"/app": s.beginApp, "/app/confirm": s.confirmApp, "/app/remove": s.removeApp, "/recovery-codes": s.renewCodes,
		"/passkeys": s.addPasskey, "/passkeys/question": s.askNewPasskey,
		"/passkeys/rename": s.renamePasskey, "/passkeys/remove": s.removePasskey,
	} {
		routes[SecurityPath+path] = s.Protect(Methods{http.MethodPost: change})
	}
	return routes
}

// Visitor returns the person who sent the request. It fails with invalid_key when no
// person is signed in.
func (s *Site) Visitor(r *http.Request) (people.Visitor, error) {
	return s.sessions.Current(r.Context(), s.cookies.session.read(r))
}

// AskToSignIn redirects to the sign-in page, which continues to next, a path of this
// host with its query.
func (s *Site) AskToSignIn(w http.ResponseWriter, next string) {
	seeOther(w, signInAddress(next))
}

// Organizations returns the organizations that the visitor may switch to.
func (s *Site) Organizations(r *http.Request, v people.Visitor) ([]core.Org, error) {
	return s.sessions.Organizations(r.Context(), v.User.ID)
}

func (s *Site) crossOrigin(w http.ResponseWriter, r *http.Request) {
	s.Refuse(w, r, http.StatusForbidden, "This form came from another site",
		"Nothing was done. Open the page here and try again.")
}
