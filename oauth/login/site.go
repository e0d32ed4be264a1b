package login

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/passwordchange"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/oauth/proxies"
)

// The URL paths of the pages on the app's host.
const (
	SignInPath            = "/login"
	SignOutPath           = "/logout"
	SignOutEverywherePath = "/logout-everywhere"
	SwitchOrgPath         = "/switch-org"
	StylePath             = "/login/style.css"
	IconPath              = "/login/icon.svg"
	ScriptPath            = "/login/passkey.js"
	SecondFactorPath      = "/login/second-factor"
	ConfirmPath           = "/login/confirm"
	SecurityPath          = "/account/security"
	PasswordPath          = "/account/security/password" //nolint:gosec // a path, no secret
	ForgottenPath         = "/login/forgotten"
	DeletePath            = "/account/delete"
	NewPasswordPath       = "/login/new-password" //nolint:gosec // a path, no secret
)

const passkeyPath = "/login/passkey"

// Config has the dependencies of the pages. All fields except Style and Proxies are
// required.
type Config struct {
	Sessions  *people.Sessions
	Factors   *people.SecondFactors
	Passwords *passwordchange.Passwords
	Warnings  people.Warnings
	// Accounts deletes the account of a person. Package core/closing implements it.
	Accounts Accounts
	// Devices stores the browsers in which people have signed in. Package core/attempts
	// implements it.
	Devices Devices
	// AppURL is the origin of the pages, without a trailing slash. Its scheme decides the
	// names of the cookies and their Secure attribute.
	AppURL  string
	DocsURL string
	// Style is a stylesheet for pages of other packages. It is served together with the
	// stylesheet of this package. "" means none.
	Style string
	// Proxies has the networks of proxies whose forwarding headers are trusted.
	Proxies proxies.Trusted
	Log     *slog.Logger
}

// Devices remembers known devices.
type Devices interface {
	// Remember stores that a person has signed in on a device. secret is the current value
	// of the device's cookie, or "". Remember returns the new value of the cookie. If the
	// current value already belongs to this person, Remember returns it again.
	Remember(ctx context.Context, userID, secret string) (string, error)
}

// Site has the pages for signing in and out. Pages of other packages use its embedded
// Entrance for the layout, the signed-in person and new sessions.
type Site struct {
	*Entrance
	style    []byte
	signIn   signInPages
	signOut  sessionForms
	proof    proofPages
	security securityPages
	password passwordPages
	reset    resetPages
	deletion deletionPages
}

// New returns the site. It fails if a template does not parse.
func New(cfg Config) (*Site, error) {
	own, err := parsePages()
	if err != nil {
		return nil, err
	}
	admission := &Admission{
		Frame: newFrame(cfg.DocsURL, cfg.Log, own.refusal), sessions: cfg.Sessions, factors: cfg.Factors,
		cookies: cookiesFor(strings.HasPrefix(cfg.AppURL, "https://")), proxies: cfg.Proxies,
	}
	entrance := &Entrance{Admission: admission, devices: cfg.Devices}
	return &Site{
		Entrance: entrance,
		style:    append(slices.Clone(stylesheet), cfg.Style...),
		signIn:   signInPages{Entrance: entrance, form: own.signIn, signedIn: own.account},
		signOut:  sessionForms{Admission: admission},
		proof:    proofPages{Entrance: entrance, page: own.proof},
		security: securityPages{Admission: admission, warnings: cfg.Warnings, page: own.security, app: own.app, codes: own.codes},
		password: passwordPages{Admission: admission, passwords: cfg.Passwords, page: own.password},
		reset:    resetPages{Admission: admission, passwords: cfg.Passwords, forgotten: own.forgotten, newPassword: own.newPassword},
		deletion: deletionPages{Admission: admission, accounts: cfg.Accounts, page: own.deletion, done: own.deleted},
	}, nil
}

// Routes returns the handlers of all pages by URL path. A path must match exactly.
func (s *Site) Routes() map[string]http.Handler {
	routes := map[string]http.Handler{
		SignInPath:            s.Protect(Methods{http.MethodGet: s.signIn.showSignIn, http.MethodPost: s.signIn.signIn}),
		SignOutPath:           s.Protect(Methods{http.MethodPost: s.signOut.signOut}),
		SignOutEverywherePath: s.Protect(Methods{http.MethodPost: s.signOut.signOutEverywhere}),
		SwitchOrgPath:         s.Protect(Methods{http.MethodPost: s.signOut.switchOrg}),
		StylePath:             serveFile("text/css", s.style),
		IconPath:              serveFile("image/svg+xml", icon),
		ScriptPath:            serveFile("text/javascript", passkeyScript),

		SecondFactorPath:          s.Protect(Methods{http.MethodGet: s.proof.showProof, http.MethodPost: s.proof.prove}),
		ConfirmPath:               s.Protect(Methods{http.MethodGet: s.proof.showProof, http.MethodPost: s.proof.prove}),
		ConfirmPath + "/question": s.Protect(Methods{http.MethodPost: s.proof.askProofPasskey}),
		passkeyPath:               s.Protect(Methods{http.MethodPost: s.signIn.signInWithPasskey}),
		passkeyPath + "/question": s.Protect(Methods{http.MethodPost: s.signIn.askSignIn}),
		SecurityPath:              s.Protect(Methods{http.MethodGet: s.security.showSecurity}),

		DeletePath:      s.Protect(Methods{http.MethodGet: s.deletion.showDeletion, http.MethodPost: s.deletion.deleteAccount}),
		PasswordPath:    s.Protect(Methods{http.MethodGet: s.password.showPassword, http.MethodPost: s.password.changePassword}),
		ForgottenPath:   s.Protect(Methods{http.MethodGet: s.reset.showForgotten, http.MethodPost: s.reset.askReset}),
		NewPasswordPath: s.Protect(Methods{http.MethodGet: s.reset.showNewPassword, http.MethodPost: s.reset.resetPassword}),
	}
	for path, change := range map[string]http.HandlerFunc{
		"/app": s.security.beginApp, "/app/confirm": s.security.confirmApp, "/app/remove": s.security.removeApp, "/recovery-codes": s.security.renewCodes,
		"/passkeys": s.security.addPasskey, "/passkeys/question": s.security.askNewPasskey,
		"/passkeys/rename": s.security.renamePasskey, "/passkeys/remove": s.security.removePasskey,
	} {
		routes[SecurityPath+path] = s.Protect(Methods{http.MethodPost: change})
	}
	return routes
}
