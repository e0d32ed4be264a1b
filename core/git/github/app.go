package github

import (
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/outbound/fetch"
)

// PublicURL is the address of GitHub's own service.
const PublicURL = "https://github.com"

// publicAPI is the address of the API of GitHub's own service.
const publicAPI = "https://api.github.com"

// The limits of requests and answers. A list of files has at most 7 MB, and a file of 5 MB has 7 MB
// in the form in which it is sent.
const (
	callTime  = 30 * time.Second
	maxAnswer = 16 << 20
	maxHeader = 64 << 10
	reuse     = time.Minute
	// fetchTime limits Fetch and Propose, which send many requests.
	fetchTime = 5 * time.Minute
)

// Config configures an App. ID, Key and Clock are required.
type Config struct {
	// ID is the id of the app.
	ID int64
	// Key is a private key of the app; see [ParseKey].
	Key *rsa.PrivateKey
	// ClientSecret is a client secret of the app, with which people prove what they may connect. ""
	// means that no person can connect a repository.
	ClientSecret string
	// URL is the address of GitHub; "" means PublicURL. It must be https, or http on the loopback.
	// The operator chose it, so any address may be connected to, except for PublicURL.
	URL string
	// RootCAs are the trusted certificate authorities; nil means those of the operating system.
	RootCAs *x509.CertPool
	Clock   core.Clock
}

// App is a [git.Host] for the kind git.GitHub. It is safe for use by several goroutines.
type App struct {
	*client
	blobs *blobs
}

// client sends requests as the app, for its installations and for people.
type client struct {
	cfg      Config
	web, api string // addresses without "/" at the end
	signer   jose.Signer
	fetcher  *fetch.Fetcher

	mu      sync.Mutex
	known   About // the zero value before GitHub was asked
	tokens  map[tokenKey]*token
	pausing map[int64]time.Time // when requests of a payer may begin again
}

var _ git.Host = (*App)(nil)

// New returns an App. It sends no request.
func New(cfg Config) (*App, error) {
	if cfg.URL == "" {
		cfg.URL = PublicURL
	}
	web, err := url.Parse(cfg.URL)
	if err != nil || web.Host == "" || web.User != nil || web.RawQuery != "" || web.Fragment != "" {
		return nil, fmt.Errorf("the address of GitHub must be like %s", PublicURL)
	}
	if web.Scheme != "https" && (web.Scheme != "http" || !isLoopback(web.Hostname())) {
		return nil, errors.New("the address of GitHub must begin with https://, except on the loopback interface")
	}
	if cfg.ID <= 0 || cfg.Key == nil {
		return nil, errors.New("an app of GitHub needs its id and its private key")
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: cfg.Key}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return nil, fmt.Errorf("private key of the app of GitHub: %w", err)
	}
	a := &client{
		cfg: cfg, signer: signer, tokens: map[tokenKey]*token{}, pausing: map[int64]time.Time{},
		web: strings.TrimRight(cfg.URL, "/"),
	}
	a.api = a.web + "/api/v3"
	guard := outbound.New([]netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")})
	if a.web == PublicURL {
		a.api, guard = publicAPI, outbound.New(nil, 443)
	}
	a.fetcher = fetch.New(fetch.Config{
		Guard: guard, Schemes: []string{web.Scheme}, Time: callTime, MaxBody: maxAnswer, MaxHeader: maxHeader,
		Reuse: reuse, UserAgent: "Mailhelm", RootCAs: func() *x509.CertPool { return cfg.RootCAs },
	})
	return &App{a, newBlobs()}, nil
}

// Close closes unused connections.
func (a *App) Close() { a.fetcher.CloseIdleConnections() }

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
