// Package post sends webhooks over HTTP. It follows no redirect, checks the IP address of
// each connection, and reads at most 64 KB of a response. A connection is used for further
// requests to its host for half a minute, so a change of the host's addresses applies after that
// time.
package post

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/outbound/fetch"
	"github.com/mailhelm/mailhelm/core/standardhooks"
)

// reuse is how long a connection is used. Opening one takes several times as long as a request.
const reuse = 30 * time.Second

// The limits of a response in bytes, and of the part of its body that is kept.
const (
	maxBody   = 64 << 10
	maxHeader = 16 << 10
	maxText   = 200 // characters
)

// Config configures a [Sender]. The zero value is right for production.
type Config struct {
	// Allowed has networks that may be reached on any port, in addition to port 443 on the
	// public Internet.
	Allowed []netip.Prefix
	// Roots returns the trusted certificate authorities; nil means those of the system. It is called
	// at the first message to a host.
	Roots func() *x509.CertPool
	// Resolver looks up host names; nil means the resolver of the system.
	Resolver *net.Resolver
	// Timeout is the maximum duration of an attempt; 0 means [standardhooks.Timeout].
	Timeout time.Duration
}

// Sender sends webhooks. It is safe for use by several goroutines.
type Sender struct {
	fetcher  *fetch.Fetcher
	guard    outbound.Guard
	resolver *net.Resolver
}

// New returns a Sender.
func New(cfg Config) Sender {
	guard, resolver := outbound.New(cfg.Allowed, 443), cfg.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	return Sender{guard: guard, resolver: resolver, fetcher: fetch.New(fetch.Config{
		Guard: guard, Schemes: []string{"https"}, Time: cmp.Or(cfg.Timeout, standardhooks.Timeout), Reuse: reuse,
		MaxBody: maxBody, MaxHeader: maxHeader, UserAgent: "Mailhelm (webhooks)", RootCAs: cfg.Roots, Resolver: cfg.Resolver,
	})}
}

// Post makes one attempt to deliver a message. Every outcome is in the answer, also of an
// attempt that the end of ctx interrupted.
func (s Sender) Post(ctx context.Context, r standardhooks.Request) standardhooks.Answer {
	request, err := newRequest(ctx, r)
	if err != nil {
		return standardhooks.Answer{Problem: standardhooks.NotSent}
	}
	response, err := s.fetcher.Send(request)
	if err != nil {
		return standardhooks.Answer{Problem: problemOf(err)}
	}
	return standardhooks.Answer{Status: response.Status, Text: core.Quotable(string(response.Body), maxText)}
}

// Close closes the connections that are not in use. The Sender can still be used.
func (s Sender) Close() { s.fetcher.CloseIdleConnections() }

// newRequest returns the signed HTTP request of an attempt.
func newRequest(ctx context.Context, r standardhooks.Request) (*http.Request, error) {
	signature, err := standardhooks.Sign(r.ID, r.At, r.Body, r.Secrets...)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("webhook-id", r.ID)
	request.Header.Set("webhook-timestamp", strconv.FormatInt(r.At.Unix(), 10))
	request.Header.Set("webhook-signature", signature)
	return request, nil
}

// problemOf returns the reason for which an attempt got no response.
func problemOf(err error) standardhooks.Problem {
	_, unknown := errors.AsType[*net.DNSError](err)
	_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
	switch {
	case errors.Is(err, outbound.ErrPort), errors.Is(err, outbound.ErrAddress):
		return standardhooks.RefusedAddress
	case errors.Is(err, fetch.ErrTooSlow):
		return standardhooks.TimedOut
	case unknown:
		return standardhooks.UnknownHost
	case certificate:
		return standardhooks.BadCertificate
	}
	return standardhooks.NotConnected
}
