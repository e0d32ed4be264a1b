package clientdocument

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"syscall"
)

// The bounds of one answer, in bytes.
const (
	maxBody   = 64 << 10
	maxHeader = 16 << 10
)

// connectControl has the type of net.Dialer.Control.
type connectControl func(network, address string, conn syscall.RawConn) error

// newTransport makes connections of which control approves, each for one
// request. It takes no proxy from the environment, for behind a proxy the check
// of the address would check the proxy's, and it decompresses nothing.
func newTransport(c Config, control connectControl) *http.Transport {
	dialer := net.Dialer{Timeout: c.Deadline, KeepAlive: -1, Resolver: c.Resolver, Control: control}
	return &http.Transport{
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    c.Deadline,
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}
}

// fetch gets the body of a document. It speaks to the transport itself, without
// an http.Client: that is what follows redirects and keeps cookies.
func (r *Reader) fetch(ctx context.Context, u clientURL) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.text, nil)
	if err != nil {
		return nil, unreachable(err)
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", r.config.UserAgent)
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		return nil, fetchFault(ctx, err)
	}
	defer response.Body.Close()
	if err := checkAnswer(response); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err == nil {
		// Hanging up makes some servers end the body as if it were whole.
		err = ctx.Err()
	}
	if err != nil {
		return nil, fetchFault(ctx, err)
	}
	if len(body) > maxBody {
		return nil, refuse("The application's metadata document is longer than 64 KB.")
	}
	return body, nil
}

// checkAnswer judges status and header.
func checkAnswer(response *http.Response) error {
	switch status := response.StatusCode; {
	case status >= 300 && status < 400:
		return refuse("The address of the application's metadata document leads to another one, which is not followed.")
	case status != http.StatusOK:
		return refuse(fmt.Sprintf("The application's metadata document was answered with the status %d instead of 200.", status))
	case response.Header.Get("Content-Encoding") != "":
		return refuse("The application's metadata document must not be compressed.")
	case !isJSON(response.Header.Get("Content-Type")):
		return refuse("The application's metadata document must have the content type application/json.")
	}
	return nil
}

// isJSON: application/json, or a more specific type that is JSON (RFC 6839).
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// fetchFault tells people what the client's authors can mend, and no more.
func fetchFault(ctx context.Context, cause error) error {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](cause); ok {
		return refuseFor("The host of the application's metadata document has no certificate that is trusted.", cause)
	}
	timeout, ok := errors.AsType[net.Error](cause)
	if ctx.Err() != nil || ok && timeout.Timeout() {
		return refuseFor("The application's metadata document took too long to arrive.", cause)
	}
	return unreachable(cause)
}
