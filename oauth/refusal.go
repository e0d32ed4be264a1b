package oauth

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// basicChallenge is the header WWW-Authenticate of every 401 (RFC 9110 section 15.5.2).
// It names Basic, the method that every client can use.
const basicChallenge = `Basic realm="Mailhelm", charset="UTF-8"`

// refusal is an error of RFC 6749 section 5.2 with its HTTP status. The description is
// for the developer of the client: it names the parameter and what to do. It contains no
// value that may be a secret, and no quote or backslash, which the RFC excludes.
type refusal struct {
	status int
	err    *oidc.Error
	// page is `error_uri`, the documentation of the error; "" for none. The library
	// cannot write it, so write writes such a refusal.
	page string
	// retryAfter is in seconds; 0 omits the header Retry-After.
	retryAfter int
}

// invalidRequest returns an error of RFC 6749 section 5.2; so do the functions below, which
// have the name of their error.
func invalidRequest(description string) *refusal {
	return refuse(http.StatusBadRequest, oidc.ErrInvalidRequest(), description)
}

func invalidScope(description string) *refusal {
	return refuse(http.StatusBadRequest, oidc.ErrInvalidScope(), description)
}

func invalidTarget(description string) *refusal {
	return refuse(http.StatusBadRequest, oidc.ErrInvalidTarget(), description)
}

func invalidGrant(description string) *refusal {
	return refuse(http.StatusBadRequest, oidc.ErrInvalidGrant(), description)
}

// unsupportedResponseType returns an error of RFC 6749 section 4.1.2.1 that the library
// does not define.
func unsupportedResponseType(description string) *refusal {
	return refuse(http.StatusBadRequest, &oidc.Error{ErrorType: "unsupported_response_type"}, description)
}

func accessDeniedRefusal(description string) *refusal {
	return refuse(http.StatusBadRequest, oidc.ErrAccessDenied(), description)
}

func unauthorizedClient(description string) *refusal {
	return refuse(http.StatusBadRequest, oidc.ErrUnauthorizedClient(), description)
}

func unsupportedGrantType(description string) *refusal {
	return refuse(http.StatusBadRequest, oidc.ErrUnsupportedGrantType(), description)
}

func invalidClient(description string) *refusal {
	return refuse(http.StatusUnauthorized, oidc.ErrInvalidClient(), description)
}

// serverError returns server_error. Clients do not see the cause; the log does.
func serverError(cause error) *refusal {
	const description = "The authorization server could not complete the request. Try again in a moment."
	r := refuse(http.StatusInternalServerError, oidc.ErrServerError(), description)
	if e := core.AsError(cause); e.HTTPStatus() == http.StatusServiceUnavailable {
		r = refuse(e.HTTPStatus(), &oidc.Error{ErrorType: "temporarily_unavailable"}, description)
		r.retryAfter = int(math.Ceil(e.RetryAfter.Seconds()))
	}
	r.err = r.err.WithParent(cause)
	return r
}

// refuse returns an error with the HTTP status and the description.
func refuse(status int, err *oidc.Error, description string) *refusal {
	return &refusal{status: status, err: err.WithDescription("%s", description)}
}

// withStatus replaces the status of errors for which HTTP has a better one than 400.
func (r *refusal) withStatus(status int) *refusal {
	r.status = status
	return r
}

// explainedAt adds the address of a page of the documentation, if documentation is
// configured.
func (r *refusal) explainedAt(docsURL, path string) *refusal {
	if docsURL != "" {
		r.page = docsURL + path
	}
	return r
}

// setRetry sets the header Retry-After of a refusal that a later request may avoid.
func (r *refusal) setRetry(h http.Header) {
	if r.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(r.retryAfter))
	}
}

// code returns the value of the member `error`.
func (r *refusal) code() string { return string(r.err.ErrorType) }

// asError returns the refusal as an error that the library writes.
func (r *refusal) asError() error { return op.NewStatusError(r.err, r.status) }

// write answers with the refusal.
func (r *refusal) write(w http.ResponseWriter) {
	body, err := json.Marshal(struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
		Page        string `json:"error_uri,omitempty"`
	}{r.code(), r.err.Description, r.page})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if r.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", basicChallenge)
	}
	r.setRetry(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(r.status)
	w.Write(append(body, '\n')) //nolint:errcheck // on a failure the client has gone
}
