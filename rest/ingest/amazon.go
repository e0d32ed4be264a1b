package ingest

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/outbound"
	"golang.org/x/sync/singleflight"
)

// Fetcher fetches documents from other hosts by URL; see [NewFetcher].
type Fetcher interface {
	Get(ctx context.Context, address string) ([]byte, error)
}

// AmazonConfig is what [NewAmazon] needs.
type AmazonConfig struct {
	Fetch Fetcher
	// Roots has the trusted certificate authorities; nil means those of the system.
	Roots *x509.CertPool
	Clock core.Clock
}

// Amazon is the [Publisher] for Amazon SNS. It caches certificates, and concurrent calls
// for the same URL share one fetch.
type Amazon struct {
	cfg AmazonConfig
	// slots limits the number of concurrent fetches.
	slots   *outbound.Slots
	flights singleflight.Group
	mu      sync.Mutex
	known   map[string]certificate
	// followed maps each confirmation link that was requested to the time until which it is
	// not requested again.
	followed map[string]time.Time
}

// certificate is the cached result for the URL of a certificate: its public key, or the
// error.
type certificate struct {
	key   *rsa.PublicKey
	err   error
	until time.Time
}

// slotLimits allow four concurrent fetches, from the same host or different ones. A further
// fetch fails at once instead of waiting.
var slotLimits = outbound.SlotLimits{All: 4, PerHost: 4}

// The limits for certificates: how many are cached and fetched, and how long they are
// cached.
const (
	// maxKnown is the maximum number of certificates in the cache. Amazon has one or two
	// certificates in each region.
	maxKnown = 128
	// trusted is how long a valid certificate is cached, but at most until it expires.
	// distrusted is how long an invalid certificate is cached.
	trusted    = 24 * time.Hour
	distrusted = time.Minute
	// unreachable is how long the failure to fetch a certificate is cached. The cached
	// failure expires before Amazon SNS sends the notification again.
	unreachable = 5 * time.Second
	// maxIssuers is the maximum number of issuer certificates that are fetched for a chain.
	maxIssuers = 3
)

// Patterns of the URLs that Amazon uses. Any other URL is never fetched, because strangers
// can put any URL into a notification.
var (
	snsHost         = regexp.MustCompile(`^sns\.[a-z0-9-]+\.amazonaws\.com(\.cn)?$`)
	certificatePath = regexp.MustCompile(`^/SimpleNotificationService(-[A-Za-z0-9]{1,64})?\.pem$`)
	// issuerURL matches the URLs of Amazon's issuer certificates. They are published without
	// TLS, so a certificate is trusted only if a trusted root has signed its chain.
	issuerURL = regexp.MustCompile(`^http://crt\.[a-z0-9]+\.amazontrust\.com/[a-z0-9]+\.(cer|crt|der)$`)
)

// NewAmazon returns an Amazon.
func NewAmazon(cfg AmazonConfig) *Amazon {
	return &Amazon{
		cfg: cfg, slots: outbound.NewSlots(slotLimits),
		known: make(map[string]certificate), followed: make(map[string]time.Time),
	}
}

// Key returns the public key of the certificate at a URL of Amazon SNS. It fails with
// ErrUntrusted unless the certificate is issued for Amazon SNS and a trusted root has
// signed its chain.
func (a *Amazon) Key(ctx context.Context, certificateURL string) (*rsa.PublicKey, error) {
	u, err := snsURL(certificateURL)
	if err != nil || !certificatePath.MatchString(u.EscapedPath()) || u.RawQuery != "" {
		return nil, fmt.Errorf("address of the certificate: %w", ErrUntrusted)
	}
	if c, ok := a.cachedCertificate(certificateURL); ok {
		return c.key, c.err
	}
	err = a.fetchOnce(ctx, certificateURL, func(ctx context.Context) error {
		if _, ok := a.cachedCertificate(certificateURL); ok { // fetched by an earlier caller
			return nil
		}
		c, err := a.read(ctx, u)
		if err != nil {
			c = certificate{err: err, until: a.cfg.Clock().Add(unreachable)}
		}
		a.remember(certificateURL, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	c, ok := a.cachedCertificate(certificateURL)
	if !ok { // the result has already expired or was removed from the cache
		return nil, errBusy
	}
	return c.key, c.err
}

// errBusy is the error when the maximum number of concurrent fetches is reached. It is also
// the error when the result of a fetch expired or was removed from the cache before the
// caller read it.
var errBusy = errors.New("too many documents are being fetched")

// fetchOnce runs fetch once for all concurrent callers with the same address. If too many
// fetches are running, it fails at once. If it waited, strangers could delay genuine
// notifications.
func (a *Amazon) fetchOnce(ctx context.Context, address string, fetch func(context.Context) error) error {
	done := a.flights.DoChan(address, func() (any, error) {
		// If the context of one caller ends, the fetch continues for the other callers.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), (maxIssuers+1)*fetchTime)
		defer cancel()
		leave, ok := a.slots.Enter(ctx, address)
		if !ok {
			return nil, errBusy
		}
		defer leave()
		return nil, fetch(ctx)
	})
	select {
	case result := <-done:
		return result.Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Confirm follows a link of Amazon SNS that confirms the subscription to the given topic.
// It fails with ErrUntrusted for any other link. If the link was followed recently, it
// succeeds without following the link again.
func (a *Amazon) Confirm(ctx context.Context, subscribeURL, topic string) error {
	u, err := snsURL(subscribeURL)
	if err != nil || u.Path != "/" || u.Query().Get("Action") != "ConfirmSubscription" || u.Query().Get("TopicArn") != topic {
		return fmt.Errorf("link of the subscription: %w", ErrUntrusted)
	}
	if a.hasFollowed(subscribeURL) {
		return nil
	}
	return a.fetchOnce(ctx, subscribeURL, func(ctx context.Context) error {
		if a.hasFollowed(subscribeURL) {
			return nil
		}
		if _, err := a.cfg.Fetch.Get(ctx, subscribeURL); err != nil {
			return err
		}
		a.mu.Lock()
		defer a.mu.Unlock()
		if len(a.followed) >= maxKnown {
			clear(a.followed)
		}
		// The link counts as followed until the message with the link would be refused as too
		// old.
		a.followed[subscribeURL] = a.cfg.Clock().Add(replayWindow + clockSkew)
		return nil
	})
}

// hasFollowed reports whether a confirmation link was followed recently.
func (a *Amazon) hasFollowed(link string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cfg.Clock().Before(a.followed[link])
}

// snsURL parses an https URL of Amazon SNS. It fails for any other URL. It also fails if
// the parsed form differs from the text, because the text is what is fetched.
func snsURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || !snsHost.MatchString(u.Host) || u.User != nil || u.Fragment != "" || u.String() != text {
		return nil, ErrUntrusted
	}
	return u, nil
}

// cachedCertificate returns the cached result for the URL of a certificate. It returns
// false if there is none or it has expired.
func (a *Amazon) cachedCertificate(address string) (certificate, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.known[address]
	return c, ok && a.cfg.Clock().Before(c.until)
}

// remember caches the result for the URL of a certificate. A full cache first drops the
// failed results, because strangers can cause any number of them. If the cache is still
// full, it drops all results.
func (a *Amazon) remember(address string, c certificate) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.known) >= maxKnown { // many failed results must not displace valid certificates
		maps.DeleteFunc(a.known, func(_ string, c certificate) bool { return c.err != nil })
	}
	if len(a.known) >= maxKnown {
		clear(a.known)
	}
	a.known[address] = c
}

// read fetches and verifies the certificate at u. It fails if a fetch fails. For an invalid
// certificate it succeeds, and the returned certificate contains the error.
func (a *Amazon) read(ctx context.Context, u *url.URL) (certificate, error) {
	file, err := a.cfg.Fetch.Get(ctx, u.String())
	if err != nil {
		return certificate{}, err
	}
	now := a.cfg.Clock()
	refused := func(why string) (certificate, error) {
		return certificate{err: fmt.Errorf("%s: %w", why, ErrUntrusted), until: now.Add(distrusted)}, nil
	}
	leaf, others := readCertificates(file)
	if leaf == nil {
		return refused("the address has no certificate")
	}
	general := "sns.amazonaws.com" + strings.TrimPrefix(u.Host[strings.Index(u.Host, ".com"):], ".com")
	if leaf.VerifyHostname(u.Host) != nil && leaf.VerifyHostname(general) != nil {
		return refused("the certificate is for another host")
	}
	vouched, err := a.verifyChain(ctx, leaf, others, now)
	if err != nil {
		return certificate{}, err
	}
	if !vouched {
		return refused("the certificate has no trusted root")
	}
	key, ok := leaf.PublicKey.(*rsa.PublicKey)
	if !ok {
		return refused("the certificate has no RSA key")
	}
	until := now.Add(trusted)
	if leaf.NotAfter.Before(until) {
		until = leaf.NotAfter
	}
	return certificate{key: key, until: until}, nil
}

// verifyChain reports whether the certificate chain of leaf ends at a trusted root.
// Amazon's file has only the leaf, so the issuers are fetched from the URLs in the
// certificates. These URLs need no trust, because the signatures are verified. verifyChain
// fails if an issuer cannot be fetched.
func (a *Amazon) verifyChain(ctx context.Context, leaf *x509.Certificate, others []*x509.Certificate, now time.Time) (bool, error) {
	options := x509.VerifyOptions{
		Roots: a.cfg.Roots, Intermediates: x509.NewCertPool(), CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	}
	for _, other := range others {
		options.Intermediates.AddCert(other)
	}
	top := leaf
	for range maxIssuers {
		if _, err := leaf.Verify(options); err == nil {
			return true, nil
		}
		issuer, err := a.issuer(ctx, top)
		if issuer == nil {
			return false, err
		}
		options.Intermediates.AddCert(issuer)
		top = issuer
	}
	_, err := leaf.Verify(options)
	return err == nil, nil
}

// issuer fetches the certificate of the issuer of c. It returns nil if c names no URL of
// Amazon's issuer certificates, or if the fetched file has no certificate.
func (a *Amazon) issuer(ctx context.Context, c *x509.Certificate) (*x509.Certificate, error) {
	named := slices.IndexFunc(c.IssuingCertificateURL, issuerURL.MatchString)
	if named < 0 {
		return nil, nil
	}
	file, err := a.cfg.Fetch.Get(ctx, c.IssuingCertificateURL[named])
	if err != nil {
		return nil, err
	}
	if issuer, err := x509.ParseCertificate(file); err == nil {
		return issuer, nil
	}
	issuer, _ := readCertificates(file)
	return issuer, nil
}

// readCertificates returns the first certificate of a PEM file, and separately up to
// maxIssuers certificates that follow. It stops at a block that is not a certificate. It
// returns nil if there is no certificate before that block.
func readCertificates(file []byte) (*x509.Certificate, []*x509.Certificate) {
	var all []*x509.Certificate
	for len(all) <= maxIssuers {
		block, rest := pem.Decode(file)
		if block == nil {
			break
		}
		file = rest
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			break
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, nil
	}
	return all[0], all[1:]
}
