package oauth

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// maxAuthorization is the maximum length of the query of an authorization request, in
// bytes.
const maxAuthorization = 16 << 10

// challengeBytes is the length of an S256 code challenge, which is a SHA-256 hash.
const challengeBytes = 32

// AuthorizationRequest is a valid authorization request of a client (RFC 6749 section
// 4.1.1).
type AuthorizationRequest struct {
	Client      access.Client
	RedirectURI string // as requested; see [access.Client.MayRedirect]
	State       string // "" if the client sent no state
	Challenge   string // S256 (RFC 7636 section 4.2)
	Scopes      core.Scopes
	Resource    access.Resource
	ResourceURL string
}

// AuthorizationRefusal is the reason why no consent page is shown for a request. If
// Redirect is set, it is a URL of the client with the error in its query, and the browser
// is sent there. Otherwise the browser must not be redirected, and Message is shown to the
// person (RFC 6749 section 4.1.2.1).
type AuthorizationRefusal struct {
	Redirect string
	Message  string
	// Err is the cause of an internal error, for the log. It is nil if the request itself is
	// at fault.
	Err error
}

// Authorizations checks authorization requests of clients and stores a person's approval of
// them.
type Authorizations struct {
	clients   clientFinder
	documents access.DocumentReader // nil if client ids cannot be URLs
	stores    access.Stores
	targets   targets
	issuer    string
	clock     core.Clock
	log       *slog.Logger
}

// ReadAuthorization checks the query of an authorization request. It never redirects to an
// unknown client or an unregistered redirect URI. Every other fault is sent to the client's
// redirect URI with `error`, `error_description`, `state` and `iss` (RFC 9207).
func (a *Authorizations) ReadAuthorization(ctx context.Context, rawQuery string) (AuthorizationRequest, *AuthorizationRefusal) {
	var request AuthorizationRequest
	query, err := url.ParseQuery(rawQuery)
	if err != nil || len(rawQuery) > maxAuthorization {
		return request, refuseToPerson("The link that brought you here is damaged or too long. Start again in the application.")
	}
	var refused *AuthorizationRefusal
	if request.Client, refused = a.askingClient(ctx, singleValue(query, "client_id")); refused != nil {
		return request, refused
	}
	request.RedirectURI = singleValue(query, "redirect_uri")
	if !request.Client.MayRedirect(request.RedirectURI) {
		return request, refuseToPerson("The application asked to send you back to an address that is not registered for it, so nothing was sent there. Report this to its developers.")
	}
	request.State = singleValue(query, "state")
	if refused := a.readParameters(&request, query); refused != nil {
		return request, a.sendBack(request, refused)
	}
	return request, nil
}

// readParameters reads all parameters other than the client, the redirect URI and the state
// into request. An error that it returns must be sent to the client's redirect URI.
func (a *Authorizations) readParameters(request *AuthorizationRequest, query url.Values) *refusal {
	if refused := checkQuery(query); refused != nil {
		return refused
	}
	if refused := checkFlow(query); refused != nil {
		return refused
	}
	var refused *refusal
	if request.Challenge, refused = readChallenge(query); refused != nil {
		return refused
	}
	if request.Scopes, refused = offeredScopes(query.Get("scope"), request.Client.Scopes); refused != nil {
		return refused
	}
	named := slices.DeleteFunc(slices.Clone(query["resource"]), func(v string) bool { return v == "" })
	if request.Resource, refused = a.targets.requestedResource(named); refused != nil {
		return refused
	}
	request.ResourceURL = a.targets.address(request.Resource)
	return nil
}

// checkQuery fails if a known parameter other than `resource` occurs twice. It also fails
// for values with control characters or invalid UTF-8. It ignores unknown parameters (RFC
// 6749 section 3.1).
func checkQuery(query url.Values) *refusal {
	for _, name := range authorizationParameters {
		if len(query[name]) > 1 && name != "resource" {
			return invalidRequest("A parameter occurs twice: `" + name + "`. Only `resource` may occur more than once.")
		}
		if slices.ContainsFunc(query[name], func(v string) bool { return !isText(v) }) {
			return invalidRequest("The value of a parameter holds control characters or is not UTF-8: `" + name + "`.")
		}
	}
	return nil
}

// authorizationParameters are the parameters that ReadAuthorization reads (RFC 6749 section
// 4.1.1, RFC 7636 section 4.3, RFC 8707 section 2). Each may occur once; only resource may
// occur several times.
var authorizationParameters = []string{
	"response_type", "response_mode", "client_id", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method", "resource",
}

// checkFlow accepts only `response_type` code and `response_mode` query or none.
func checkFlow(query url.Values) *refusal {
	switch query.Get("response_type") {
	case "code":
	case "":
		return invalidRequest("`response_type` is missing. It must be `code`.")
	default:
		return unsupportedResponseType("`response_type` must be `code`.")
	}
	if mode := query.Get("response_mode"); mode != "" && mode != "query" {
		return invalidRequest("`response_mode` must be `query`, which is also the default.")
	}
	return nil
}

// readChallenge returns the PKCE challenge and requires the method S256 from every client
// (RFC 7636 section 4.2). A missing method would mean plain, which is useless if an
// attacker can read the request.
func readChallenge(query url.Values) (string, *refusal) {
	challenge := query.Get("code_challenge")
	if challenge == "" {
		return "", invalidRequest("`code_challenge` is missing. Every client must use PKCE with S256 (RFC 7636).")
	}
	if query.Get("code_challenge_method") != "S256" {
		return "", invalidRequest("`code_challenge_method` must be `S256`.")
	}
	if raw, err := base64.RawURLEncoding.Strict().DecodeString(challenge); err != nil || len(raw) != challengeBytes {
		return "", invalidRequest("`code_challenge` must be a SHA-256 in Base64url without padding, which has 43 characters.")
	}
	return challenge, nil
}

// singleValue returns the value of a parameter that occurs exactly once. It returns "" if
// the parameter is missing, occurs twice or is not valid text.
func singleValue(query url.Values, name string) string {
	if values := query[name]; len(values) == 1 && isText(values[0]) {
		return values[0]
	}
	return ""
}

// refuseToPerson returns a refusal that shows the person a message and does not redirect.
func refuseToPerson(message string) *AuthorizationRefusal {
	return &AuthorizationRefusal{Message: message}
}

// sendBack returns a refusal that redirects to the client with an error.
func (a *Authorizations) sendBack(request AuthorizationRequest, refused *refusal) *AuthorizationRefusal {
	return &AuthorizationRefusal{Redirect: a.answer(request, url.Values{
		"error":             {refused.code()},
		"error_description": {refused.err.Description},
	})}
}

// answer returns the request's redirect URI with the given parameters, the state and the
// issuer (RFC 9207 section 2).
func (a *Authorizations) answer(request AuthorizationRequest, parameters url.Values) string {
	if request.State != "" {
		parameters.Set("state", request.State)
	}
	parameters.Set("iss", a.issuer)
	return withParameters(request.RedirectURI, parameters)
}
