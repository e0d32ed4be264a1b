package unsubscribe

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/throttle"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

//go:embed pages
var files embed.FS

// The limits on POST requests. Those of a client address are high, because a large mailbox
// provider sends the one-click requests of all its users from few addresses. They keep a
// single client from using up the database.
const (
	addressBurst = 300
	addressEvery = 100 * time.Millisecond
	tokenBurst   = 10
	tokenEvery   = 6 * time.Second
)

// Choices reads and records what recipients receive. It is *unsubscribe.Unsubscribe in the
// product, which has the contracts of the methods.
type Choices interface {
	Open(ctx context.Context, token string) (unsubscribe.Visit, error)
	Unsubscribe(ctx context.Context, v unsubscribe.Visit) (unsubscribe.Visit, error)
	Resubscribe(ctx context.Context, v unsubscribe.Visit) (unsubscribe.Visit, error)
	SavePreferences(ctx context.Context, v unsubscribe.Visit, p unsubscribe.Preferences) (unsubscribe.Visit, error)
}

// Config has the dependencies of the pages. All fields are required.
type Config struct {
	Choices Choices
	// Remote returns the client address of a request as host:port, such as
	// http.Request.RemoteAddr.
	Remote func(r *http.Request) string
	Clock  core.Clock
	Log    *slog.Logger
}

// Pages are the pages behind unsubscribe links.
type Pages struct {
	Config

	texts  catalogues
	page   *template.Template
	style  template.CSS
	policy string // the Content-Security-Policy
	// byAddress and byToken limit POST requests.
	byAddress, byToken *throttle.Throttle
}

// New returns the pages. It fails if a text or template does not parse.
func New(cfg Config) (*Pages, error) {
	texts, err := parseTexts()
	if err != nil {
		return nil, err
	}
	page, err := template.ParseFS(files, "pages/page.html")
	if err != nil {
		return nil, fmt.Errorf("unsubscribe page: %w", err)
	}
	style, err := files.ReadFile("pages/style.css")
	if err != nil {
		return nil, fmt.Errorf("unsubscribe page: %w", err)
	}
	sum := sha256.Sum256(style)
	return &Pages{
		Config: cfg, texts: texts, page: page,
		style: template.CSS(style), //nolint:gosec // a file of this package
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
		byAddress: throttle.New(addressBurst, addressEvery), byToken: throttle.New(tokenBurst, tokenEvery),
	}, nil
}

// Handler returns the handler of all paths that begin with [unsubscribe.Path].
func (p *Pages) Handler() http.Handler { return http.HandlerFunc(p.serve) }

// request is a request for a page.
type request struct {
	w http.ResponseWriter
	r *http.Request
	// token is the token in the path. ofPreferences is true for the page of preferences.
	token         string
	ofPreferences bool
}

// serve answers a request for a page.
func (p *Pages) serve(w http.ResponseWriter, r *http.Request) {
	p.setHeaders(w, r)
	q := request{w: w, r: r}
	q.token, q.ofPreferences = strings.CutSuffix(strings.TrimPrefix(r.URL.Path, unsubscribe.Path), unsubscribe.PreferencesSuffix)
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		p.show(q)
	case http.MethodPost:
		p.choose(q)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		p.refuse(q, http.StatusMethodNotAllowed, "invalid")
	}
}

// requestIDHeader is the header with the id of the request.
const requestIDHeader = "X-Request-Id"

// setHeaders sets the headers of each answer. They keep pages out of search engines, caches,
// frames and the referrer of other sites, because the address of a page is a credential.
func (p *Pages) setHeaders(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", p.policy)
	h.Set("X-Frame-Options", "DENY") // for browsers without support for frame-ancestors
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Robots-Tag", "noindex, nofollow")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set(requestIDHeader, core.RequestID(r.Header[requestIDHeader]))
}

// show writes the page of a link. It changes nothing.
func (p *Pages) show(q request) {
	v, err := p.Choices.Open(q.r.Context(), q.token)
	switch {
	case err != nil:
		p.fail(q, err)
	case q.ofPreferences:
		p.write(q, http.StatusOK, p.preferencesPage(v, false))
	default:
		p.write(q, http.StatusOK, p.unsubscribePage(q, v))
	}
}
