package oauth

import (
	"encoding/json"
	"log/slog"
	"math"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/throttle"
	"github.com/mailhelm/mailhelm/oauth/proxies"
	"github.com/zitadel/oidc/v3/pkg/oidc"
)

// registrationAnswer is the answer to a registration: the client as it was stored, which
// may differ from the request (RFC 7591 section 3.2.1).
type registrationAnswer struct {
	ClientID string `json:"client_id"`
	IssuedAt int64  `json:"client_id_issued_at"`
	Secret   string `json:"client_secret,omitempty"`
	// SecretExpires is 0, which means never. It is absent for a client without a secret.
	SecretExpires *int64 `json:"client_secret_expires_at,omitempty"`

	Name          string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	Scope         string   `json:"scope"`
}

// registrationEndpoint serves dynamic client registration, by which a client registers
// itself.
type registrationEndpoint struct {
	registrar *access.Registrations
	proxies   proxies.Trusted
	log       *slog.Logger
}

// register serves a registration request. Neither the sender nor the truth of the metadata
// is verified; the consent page says so.
func (e *registrationEndpoint) register(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	answer, refused := e.registerClient(w, r)
	requestID := slog.String("request_id", w.Header().Get(requestIDHeader))
	if refused != nil {
		e.logRegistrationRefused(r, requestID, refused)
		refused.write(w)
		return
	}
	body, err := json.Marshal(answer) //nolint:gosec // the one time that the secret is shown
	if err != nil {
		serverError(err).write(w)
		return
	}
	e.log.LogAttrs(r.Context(), slog.LevelInfo, "client registered", requestID, slog.String("client", answer.ClientID))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	w.Write(append(body, '\n')) //nolint:errcheck // on a failure the client has gone
}

// registerClient reads the client's metadata and stores the client. It fails with an error
// of RFC 7591 section 3.2.2, or with 429 if too many clients were registered from the same
// IP network.
func (e *registrationEndpoint) registerClient(w http.ResponseWriter, r *http.Request) (registrationAnswer, *refusal) {
	body, refused := readBody(w, r, "application/json")
	if refused != nil {
		refused.err.ErrorType = invalidMetadataType
		return registrationAnswer{}, refused
	}
	asked, refused := readRegistration(body)
	if refused != nil {
		return registrationAnswer{}, refused
	}
	scopes, refused := asked.scopes()
	if refused != nil {
		return registrationAnswer{}, refused
	}
	client, secret, err := e.registrar.Register(r.Context(), throttle.NetworkOf(e.proxies.Remote(r)), access.SelfDescribed{
		Name: asked.Name, Public: asked.AuthMethod == authNone, RedirectURIs: asked.RedirectURIs, Scopes: scopes,
	})
	if err != nil {
		return registrationAnswer{}, registrationRefusal(w, core.AsError(err))
	}
	answer := registrationAnswer{
		ClientID: client.ClientID, IssuedAt: client.CreatedAt.Unix(), Secret: secret, Name: client.Name, RedirectURIs: client.RedirectURIs,
		GrantTypes: openGrants(), ResponseTypes: []string{"code"}, AuthMethod: asked.AuthMethod, Scope: client.Scopes.Join(),
	}
	if secret != "" {
		answer.SecretExpires = new(int64)
	}
	return answer, nil
}

// openGrants returns the grant types of every client that registered itself.
func openGrants() []string {
	return []string{string(oidc.GrantTypeCode), string(oidc.GrantTypeRefreshToken)}
}

// registrationRefusal converts an error of core/access to an error of RFC 7591 section
// 3.2.2, or to 429 with the header Retry-After.
func registrationRefusal(w http.ResponseWriter, e *core.Error) *refusal {
	switch {
	case e.Code == core.CodeRateLimited:
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
		return refuse(http.StatusTooManyRequests, &oidc.Error{ErrorType: "temporarily_unavailable"}, e.Message+" "+e.NextStep())
	case e.Code != core.CodeValidationFailed || len(e.Fields) == 0:
		return serverError(e)
	case e.Fields[0].Field == "redirect_uris":
		return refuse(http.StatusBadRequest, &oidc.Error{ErrorType: "invalid_redirect_uri"}, "`redirect_uris` "+e.Fields[0].Reason+".")
	}
	return invalidMetadata("`client_" + e.Fields[0].Field + "` " + e.Fields[0].Reason + ".")
}

func (e *registrationEndpoint) logRegistrationRefused(r *http.Request, requestID slog.Attr, refused *refusal) {
	level, attrs := slog.LevelInfo, []slog.Attr{
		requestID, slog.Int("status", refused.status), slog.String("error", refused.code()), slog.String("reason", refused.err.Description),
	}
	if refused.err.Parent != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("cause", refused.err.Parent.Error()))
	}
	e.log.LogAttrs(r.Context(), level, "registration refused", attrs...)
}
