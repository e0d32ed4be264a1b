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

// The limits of one response, in bytes.
const (
	maxBody   = 64 << 10
	maxHeader = 16 << 10
)

// connectControl is the type of net.Dialer.Control.
type connectControl func(network, address string, conn syscall.RawConn) error

// newTransport returns a transport that opens one connection per request, if control
// allows it. It ignores proxies of the environment, because control would then check
// the proxy's address. It does not decompress.
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

// fetch returns the body of a document. It uses the transport without an http.Client,
// which would follow redirects and keep cookies.
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
		// After the context has ended, some servers end the body as if it were
		// complete.
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

// checkAnswer checks the status and the header of the response.
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

// isJSON reports whether the type is application/json or another JSON type (RFC 6839).
func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// fetchFault returns the error to show. It names only problems that the client's
// authors can fix.
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
