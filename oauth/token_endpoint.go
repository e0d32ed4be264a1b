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

// grants are the grant types that the token endpoint serves. The metadata lists
// the same.
var grants = []oidc.GrantType{oidc.GrantTypeCode, oidc.GrantTypeRefreshToken, oidc.GrantTypeClientCredentials}

// required are the parameters that each grant cannot do without.
var required = map[oidc.GrantType][]string{
	oidc.GrantTypeCode:         {"code", "redirect_uri", "code_verifier"},
	oidc.GrantTypeRefreshToken: {"refresh_token"},
}

// clientEndpoint checks a request to an endpoint at which clients authenticate
// before the library sees it, and hands it on with the parameters already
// parsed, so that the library reads exactly those.
func (s *Server) clientEndpoint(check func(url.Values) *refusal, library http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		attempt := &attempt{requestID: w.Header().Get(requestIDHeader)}
		out := &challenger{ResponseWriter: w, status: http.StatusOK}
		defer func() { s.logAttempt(r.Context(), attempt, out) }()

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

func checkGrant(form url.Values) *refusal {
	grant := form.Get("grant_type")
	if grant == "" {
		return invalidRequest("`grant_type` is missing.")
	}
	if !slices.Contains(grants, oidc.GrantType(grant)) {
		return unsupportedGrantType("This server does not serve that grant type. Its metadata lists those it does.")
	}
	for _, name := range required[oidc.GrantType(grant)] {
		if !form.Has(name) {
			return invalidRequest("`" + name + "` is missing.")
		}
	}
	return nil
}

func checkRevocation(form url.Values) *refusal {
	if !form.Has("token") {
		return invalidRequest("`token` is missing.")
	}
	return nil
}

// checkClientAuthentication finds the client id, and refuses a request that
// authenticates its client in two ways (RFC 6749 section 2.3) or names two
// clients. The secret is compared later.
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

// basicClientID reads both parts as RFC 6749 section 2.3.1 has them, form-encoded:
// some clients escape even the underscore of our ids, others escape nothing.
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

// attempt is what the log says of one request of a client. It travels in the context,
// because the steps between are the library's.
type attempt struct {
	requestID string
	clientID  string
	known     bool // that the client proved to be clientID
	orgID     string
	resource  string
	tokenID   string
	grantID   string // of a person's authorization
	asked     bool   // about a token, by introspection
	refused   *refusal
}

type attemptKey struct{}

// attemptOf finds the attempt of a request; a request that did not come through
// a client endpoint gets one that nobody reads.
func attemptOf(ctx context.Context) *attempt {
	if a, ok := ctx.Value(attemptKey{}).(*attempt); ok {
		return a
	}
	return &attempt{}
}

// refuse notes the refusal for the log and gives it to the library to answer.
func (a *attempt) refuse(r *refusal) error {
	a.refused = r
	return r.asError()
}

func (s *Server) logAttempt(ctx context.Context, a *attempt, out *challenger) {
	attrs := []slog.Attr{
		slog.String("request_id", a.requestID),
		slog.Int("status", out.status),
	}
	// People paste secrets where the client id belongs, so only an id is logged, and
	// an address only when it is a client's.
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
		s.log.LogAttrs(ctx, slog.LevelInfo, "token issued", attrs...)
		return
	}
	if a.asked && out.status == http.StatusOK {
		s.log.LogAttrs(ctx, slog.LevelInfo, "introspection answered", attrs...)
		return
	}
	if out.status == http.StatusOK {
		s.log.LogAttrs(ctx, slog.LevelInfo, "revocation answered", attrs...)
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
	s.log.LogAttrs(ctx, level, "token refused", attrs...)
}

// challenger adds to what the library writes: the challenge of every 401, and the
// page that a refusal refers to. It notes the status.
type challenger struct {
	http.ResponseWriter
	status  int
	attempt *attempt // nil before the library has its turn
	// replaced is set when the refusal was written here, whole.
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

// Write drops the library's words for a refusal that was written already.
func (c *challenger) Write(body []byte) (int, error) {
	if c.replaced {
		return len(body), nil
	}
	return c.ResponseWriter.Write(body)
}
