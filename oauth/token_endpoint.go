package oauth

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// grants are the grant types that the token endpoint accepts and that the metadata lists.
var grants = []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken, oidc.GrantTypeClientCredentials}

// required has the required parameters of each grant type.
var required = map[oidc.GrantType][]string{
	oidc.GrantTypeCode:         {"code", "redirect_uri", "code_verifier"},
	oidc.GrantTypeRefreshToken: {"refresh_token"},
}

// clientEndpoints wraps the endpoints at which clients authenticate, and logs one line for
// each request.
type clientEndpoints struct{ log *slog.Logger }

// protect returns a handler for the OpenID Connect library. Before it calls the library, it
// checks the form and the method of client authentication, and runs the function check. It
// sets the parsed parameters on the request, so that the library does not parse the body
// differently.
func (e clientEndpoints) protect(check func(url.Values) *refusal, library http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		attempt := &attempt{requestID: w.Header().Get(requestIDHeader)}
		out := &challenger{ResponseWriter: w, status: http.StatusOK}
		defer func() { e.logAttempt(r.Context(), attempt, out) }()

		form, refused := readForm(w, r)
		if refused == nil {
			attempt.clientID, refused = checkClientAuthentication(r.Header["Authorization"], form)
		}
		if refused == nil {
			refused = check(form)
		}
		if refused != nil {
			attempt.refused = refused
			refused.write(out)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), attemptKey{}, attempt))
		r.Form, r.PostForm = form, form
		out.attempt = attempt
		library.ServeHTTP(out, r)
	})
}

// checkGrant fails for a grant type that the token endpoint does not accept, and for a
// missing parameter that the grant type requires.
func checkGrant(form url.Values) *refusal {
	grant := form.Get("grant_type")
	if grant == "" {
		return invalidRequest("`grant_type` is missing.")
	}
	if !slices.Contains(grants, oidc.GrantType(grant)) {
		return unsupportedGrantType("This server does not support that grant type. Its metadata lists the supported ones.")
	}
	for _, name := range required[oidc.GrantType(grant)] {
		if !form.Has(name) {
			return invalidRequest("`" + name + "` is missing.")
		}
	}
	return nil
}

// checkRevocation fails if the parameter `token` is missing.
func checkRevocation(form url.Values) *refusal {
	if !form.Has("token") {
		return invalidRequest("`token` is missing.")
	}
	return nil
}

// checkClientAuthentication returns the client id of a request. It fails if the client does
// not authenticate, uses two methods (RFC 6749 section 2.3) or states two ids. It does not
// verify the secret; the OpenID Connect library calls VerifyClient for that.
func checkClientAuthentication(authorization []string, form url.Values) (string, *refusal) {
	if form.Has("client_assertion") || form.Has("client_assertion_type") {
		return "", invalidClient("Client assertions are not supported. Use HTTP Basic, or `client_id` and `client_secret` in the body.")
	}
	if len(authorization) == 0 {
		if !form.Has("client_id") {
			return "", invalidClient("The client did not authenticate. Use HTTP Basic, or `client_id` and `client_secret` in the body.")
		}
		return form.Get("client_id"), nil
	}
	if len(authorization) > 1 {
		return "", invalidRequest("The Authorization header occurs twice.")
	}
	clientID, ok := basicClientID(authorization[0])
	if !ok {
		return "", invalidClient("The Authorization header is not HTTP Basic with a client id and a client secret.")
	}
	if form.Has("client_secret") {
		return "", invalidRequest("The client authenticates twice: use HTTP Basic or `client_secret`, not both.")
	}
	if form.Has("client_id") && form.Get("client_id") != clientID {
		return "", invalidRequest("`client_id` is not the client that HTTP Basic names.")
	}
	return clientID, nil
}

// basicClientID returns the client id in an Authorization header with HTTP Basic. The id
// and the secret may be form-encoded (RFC 6749 section 2.3.1) or not: some clients escape
// even an underscore, others escape nothing.
func basicClientID(authorization string) (string, bool) {
	header := http.Request{Header: http.Header{"Authorization": {authorization}}}
	user, secret, ok := header.BasicAuth()
	if !ok || user == "" || secret == "" {
		return "", false
	}
	clientID, err := url.QueryUnescape(user)
	if err != nil || !isText(clientID) {
		return "", false
	}
	_, err = url.QueryUnescape(secret)
	return clientID, err == nil
}

// attempt collects the content of the log line about one client request. It is in the
// request's context, so that the methods that the OpenID Connect library calls can fill it
// in.
type attempt struct {
	requestID string
	clientID  string
	known     bool // whether the client authenticated as clientID
	orgID     string
	resource  string
	tokenID   string
	grantID   string // of a person's authorization
	asked     bool   // about a token, by introspection
	refused   *refusal
}

// attemptKey is the key under which a request's context has the *attempt, the content of
// the request's log line.
type attemptKey struct{}

// attemptOf returns the attempt in a request's context. Without one it returns a new
// attempt, which is not logged.
func attemptOf(ctx context.Context) *attempt {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a
	}
	return &attempt{}
}

// refuse stores the refusal for the log line and returns it as an error for the OpenID
// Connect library.
func (a *attempt) refuse(r *refusal) error {
	a.refused = r
	return r.asError()
}

// logAttempt writes the log line about a finished client request: the client, the status,
// the ids of the token and the grant, and the refusal. It never contains a token or a
// secret.
func (e clientEndpoints) logAttempt(ctx context.Context, a *attempt, out *challenger) {
	attrs := []slog.Attr{
		slog.String("request_id", a.requestID),
		slog.Int("status", out.status),
	}
	// A client may send a secret as its client id by mistake. So the log has the client id
	// only if it has the right format or the client authenticated with it.
	if access.IsClientID(a.clientID) || a.known {
		attrs = append(attrs, slog.String("client", a.clientID))
	}
	if a.orgID != "" {
		attrs = append(attrs, slog.String("org", a.orgID))
	}
	if a.grantID != "" {
		attrs = append(attrs, slog.String("grant", a.grantID))
	}
	if a.tokenID != "" {
		attrs = append(attrs, slog.String("resource", a.resource), slog.String("token", a.tokenID))
		e.log.LogAttrs(ctx, slog.LevelInfo, "token issued", attrs...)
		return
	}
	if a.asked && out.status == http.StatusOK {
		e.log.LogAttrs(ctx, slog.LevelInfo, "introspection answered", attrs...)
		return
	}
	if out.status == http.StatusOK {
		e.log.LogAttrs(ctx, slog.LevelInfo, "revocation answered", attrs...)
		return
	}
	level := slog.LevelInfo
	if a.refused != nil {
		attrs = append(attrs, slog.String("error", a.refused.code()), slog.String("reason", a.refused.err.Description))
	}
	if a.refused != nil && a.refused.err.Parent != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("cause", a.refused.err.Parent.Error()))
	}
	e.log.LogAttrs(ctx, level, "token refused", attrs...)
}

// challenger is a ResponseWriter that completes the answers of the OpenID Connect library.
// It adds WWW-Authenticate to every 401 and writes refusals with `error_uri` itself. It
// keeps the status for the log.
type challenger struct {
	http.ResponseWriter
	status  int
	attempt *attempt // nil before the OpenID Connect library is called
	// replaced is true after the challenger has written a refusal of its own instead of the
	// answer of the OpenID Connect library.
	replaced bool
}

func (c *challenger) WriteHeader(status int) {
	c.status = status
	if c.attempt != nil && c.attempt.refused != nil && c.attempt.refused.page != "" {
		c.replaced = true
		c.attempt.refused.write(c.ResponseWriter)
		return
	}
	if c.attempt != nil && c.attempt.refused != nil {
		c.attempt.refused.setRetry(c.Header())
	}
	if status == http.StatusUnauthorized {
		c.Header().Set("WWW-Authenticate", basicChallenge)
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write writes the body to the response. If the challenger has already written a refusal
// instead, it discards the body from the OpenID Connect library.
func (c *challenger) Write(body []byte) (int, error) {
	if c.replaced {
		return len(body), nil
	}
	return c.ResponseWriter.Write(body)
}
