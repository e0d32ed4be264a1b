package clientdocument

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/outbound/fetch"
)

// The limits of an HTTP response with a metadata document, in bytes.
const (
	maxBody   = 64 << 10
	maxHeader = 16 << 10
)

// slotLimits bound concurrent fetches.
var slotLimits = outbound.SlotLimits{All: 16, PerHost: 2, Waiting: 256}

// newFetcher returns the HTTP client that fetches metadata documents.
func newFetcher(c Config, g guard, refuse connectControl) *fetch.Fetcher {
	return fetch.New(fetch.Config{
		Guard: g.Guard, Refuse: refuse, Schemes: []string{"https"}, Time: c.Deadline,
		MaxBody: maxBody, MaxHeader: maxHeader, Content: fetch.JSON,
		UserAgent: c.UserAgent, RootCAs: func() *x509.CertPool { return c.RootCAs }, Resolver: c.Resolver,
	})
}

// fetch returns the body of the metadata document at u.
func (r *Reader) fetch(ctx context.Context, u clientURL) ([]byte, error) {
	body, err := r.fetcher.Get(ctx, u.text)
	if err != nil {
		return nil, fetchFault(err)
	}
	return body, nil
}

// fetchFault converts an error of a fetch to the error shown to the person. The returned
// error names only problems that the client's authors can fix.
func fetchFault(cause error) error {
	if answered, ok := errors.AsType[*fetch.StatusError](cause); ok {
		return statusFault(answered.Status)
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](cause); ok {
		return refuseFor("The host of the application's metadata document has no trusted certificate.", cause)
	}
	switch {
	case errors.Is(cause, fetch.ErrCompressed):
		return refuse("The application's metadata document must not be compressed.")
	case errors.Is(cause, fetch.ErrContentType):
		return refuse("The application's metadata document must have the content type application/json.")
	case errors.Is(cause, fetch.ErrTooLong):
		return refuse("The application's metadata document is longer than 64 KB.")
	case errors.Is(cause, fetch.ErrTooSlow):
		return refuseFor("The application's metadata document took too long to arrive.", cause)
	}
	return unreachable(cause)
}

// statusFault returns the error shown to the person for an HTTP status other than 200.
func statusFault(status int) error {
	if status >= 300 && status < 400 {
		return refuse("The address of the application's metadata document redirects. Redirects are not followed.")
	}
	return refuse(fmt.Sprintf("The application's metadata document was answered with the status %d instead of 200.", status))
}
