// Package rspamd asks rspamd whether a message is spam, over its HTTP protocol. The message
// is the body of a POST request to /checkv2, and headers describe the envelope.
package rspamd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/scanning"
)

const (
	// maxAnswer is the largest answer in bytes. A symbol can have many options, such as URLs of
	// the message, so answers grow with the message.
	maxAnswer = 1 << 20
	// maxHeader is the largest header of an answer in bytes.
	maxHeader   = 16 << 10
	dialTimeout = 5 * time.Second
)

// Client speaks to the normal worker of rspamd, usually on port 11333. It opens a connection
// for each message, uses no proxy and follows no redirect. It is safe for use by several
// goroutines.
type Client struct {
	check, ping string
	http        http.Client
}

var _ scanning.Client = (*Client)(nil)

// New returns a client for the rspamd at a URL such as http://127.0.0.1:11333. The paths of
// the protocol are appended to the path of the URL.
func New(server *url.URL) *Client {
	return &Client{
		check: server.JoinPath("checkv2").String(), ping: server.JoinPath("ping").String(),
		http: http.Client{
			Transport: &http.Transport{
				DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, TLSHandshakeTimeout: dialTimeout,
				DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Ping implements [scanning.Client].
func (c *Client) Ping(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.ping, http.NoBody)
	if err != nil {
		return err
	}
	status, body, err := c.send(request)
	if err == nil && (status != http.StatusOK || !strings.HasPrefix(string(body), "pong")) {
		err = fmt.Errorf("the answer to a ping has status %d and is not pong", status)
	}
	return err
}

// Scan implements [inbound.Scanner]. It fails if the answer has no action.
func (c *Client) Scan(ctx context.Context, e inbound.Envelope, raw io.Reader, size int64) (inbound.Finding, error) {
	if size == 0 {
		// For any other reader, net/http takes ContentLength 0 to mean that the length is unknown.
		raw = http.NoBody
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.check, raw)
	if err != nil {
		return inbound.Finding{}, err
	}
	request.ContentLength = size
	describe(request.Header, e)
	status, body, err := c.send(request)
	if err != nil {
		return inbound.Finding{}, err
	}
	if status == http.StatusRequestEntityTooLarge {
		return inbound.Finding{}, inbound.ErrTooLarge
	}
	var a answer
	if err := json.Unmarshal(body, &a); status != http.StatusOK || err != nil {
		return inbound.Finding{}, fmt.Errorf("the answer has status %d and says %q: %w", status, scanning.Printable(a.Error), errors.Join(err, errNoResult))
	}
	return a.finding()
}

// errAnswerSize means that an answer is larger than maxAnswer.
var errAnswerSize = fmt.Errorf("the answer is larger than %d bytes", maxAnswer)

// send sends a request and reads the answer. Errors name neither the URL nor the message.
func (c *Client) send(r *http.Request) (status int, body []byte, err error) {
	response, err := c.http.Do(r)
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err
		}
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = errAnswerSize
	}
	return response.StatusCode, body, err
}
