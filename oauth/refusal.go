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

// basicChallenge is the header WWW-Authenticate of every 401 (RFC 9110 section 15.5.2). It
// names Basic, which every client with a secret can use.
const basicChallenge = `Basic realm="Mailhelm", charset="UTF-8"`

// refusal is an OAuth error with its HTTP status (RFC 6749 section 5.2). The description
// tells the client's developer which parameter is wrong and what to do. It contains no
// value that may be a secret, and no quote or backslash, which the RFC forbids.
type refusal struct {
	status int
	err    *oidc.Error
	// page is `error_uri`, the URL of documentation about the error, or "". The OpenID
	// Connect library cannot write this member; [refusal.write] does.
	page string
	// retryAfter is the value of the header Retry-After in seconds; 0 omits the header.
	retryAfter int
}

// invalidRequest returns the error invalid_request. Each of the following functions returns
// the OAuth error that it is named after, with a description.
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

// unsupportedResponseType returns the error unsupported_response_type (RFC 6749 section
// 4.1.2.1), which the OpenID Connect library does not define.
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

// serverError returns the error server_error, or temporarily_unavailable if cause is
// temporary. Only the log shows the cause.
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

// refuse returns a refusal with the HTTP status, the OAuth error and the description.
func refuse(status int, err *oidc.Error, description string) *refusal {
	return &refusal{status: status, err: err.WithDescription("%s", description)}
}

// withStatus sets another HTTP status than the error's usual 400, such as 405 or 413.
func (r *refusal) withStatus(status int) *refusal {
	r.status = status
	return r
}

// explainedAt sets `error_uri` to a page of the documentation. Without a configured docsURL
// it does nothing.
func (r *refusal) explainedAt(docsURL, path string) *refusal {
	if docsURL != "" {
		r.page = docsURL + path
	}
	return r
}

// setRetry sets the header Retry-After if the refusal says when to retry.
func (r *refusal) setRetry(h http.Header) {
	if r.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(r.retryAfter))
	}
}

// code returns the error code, which is the JSON member `error`.
func (r *refusal) code() string { return string(r.err.ErrorType) }

// asError returns the refusal as an error that the OpenID Connect library writes with its
// status.
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
