// Package githubapp assembles the parts of a server that work as an app on GitHub: the host of
// repositories, and webhooks.
package githubapp

import (
	"context"
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git/github"
	"github.com/mailhelm/mailhelm/rest/githook"
)

// Syncs are the connections of organizations.
type Syncs interface {
	// OrgsOf returns the organizations that have connected a repository, or any repository of the
	// installation if location is "".
	OrgsOf(ctx context.Context, installation int64, location string) ([]string, error)
	// RequestSync lets the repository of an organization be read soon. It fails with
	// core.CodeNotFound without a connection.
	RequestSync(ctx context.Context, orgID string) error
}

// Parts are the parts of a server with an app on GitHub. Open returns them.
type Parts struct {
	// App is nil if the operator has set up no app.
	App        *github.App
	deliveries *github.Deliveries
	cfg        config.Config
}

// Open returns the parts. It reads the private key of the app, and sends no request.
func Open(cfg config.Config) (*Parts, error) {
	p := &Parts{cfg: cfg, deliveries: github.NewDeliveries([]byte(cfg.GitHub.WebhookSecret), cfg.Clock)}
	if cfg.GitHub.App == 0 {
		return p, nil
	}
	key, err := openKey(cfg.GitHub)
	if err != nil {
		return nil, err
	}
	p.App, err = github.New(github.Config{ID: cfg.GitHub.App, Key: key, ClientSecret: cfg.GitHub.ClientSecret, URL: cfg.GitHub.URL, Clock: cfg.Clock})
	if err != nil {
		return nil, fmt.Errorf("app of GitHub: %w", err)
	}
	return p, nil
}

// Close closes connections to GitHub.
func (p *Parts) Close() {
	if p.App != nil {
		p.App.Close()
	}
}

// PathOf returns the path of the page that connects repositories, "" if the server has no app.
func (p *Parts) PathOf(page string) string {
	if p.App == nil {
		return ""
	}
	return page
}

// Route returns a handler that takes webhooks at githook.Path, if the server has a secret for them. It
// passes other requests to next.
func (p *Parts) Route(syncs Syncs, next http.Handler) http.Handler {
	if p.App == nil || p.cfg.GitHub.WebhookSecret == "" {
		return next
	}
	own := githook.New(githook.Config{
		Receive: func(ctx context.Context, d githook.Delivery) (githook.Outcome, error) {
			return p.receive(ctx, syncs, d)
		},
		MaxBody: github.MaxDelivery, Log: p.cfg.Log,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == githook.Path {
			own.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// receive requests the syncs that a delivery asks for.
func (p *Parts) receive(ctx context.Context, syncs Syncs, d githook.Delivery) (githook.Outcome, error) {
	delivery := github.Delivery(d)
	look, err := p.deliveries.Read(delivery)
	switch {
	case errors.Is(err, github.ErrSignature):
		return githook.Unsigned, nil
	case errors.Is(err, github.ErrRepeated):
		return githook.Repeated, nil
	case err != nil:
		return githook.Malformed, nil //nolint:nilerr // the answer says it
	case look == github.Look{}:
		return githook.Accepted, nil
	}
	if err := request(ctx, syncs, look); err != nil {
		p.deliveries.Forget(delivery)
		return githook.Accepted, err
	}
	return githook.Accepted, nil
}

// request requests syncs of all organizations that have connected a repository.
func request(ctx context.Context, syncs Syncs, look github.Look) error {
	orgs, err := syncs.OrgsOf(ctx, look.Installation, look.Repository)
	if err != nil {
		return err
	}
	var failed []error
	for _, orgID := range orgs {
		if err := syncs.RequestSync(ctx, orgID); err != nil && !core.IsNotFound(err) { // disconnected in between
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// openKey returns the private key of the app. It reads the file if Key names one. No error has a part
// of the key.
func openKey(g config.GitHub) (*rsa.PrivateKey, error) {
	text := []byte(g.Key)
	if !strings.Contains(g.Key, "-----BEGIN") {
		var err error
		if text, err = os.ReadFile(g.Key); err != nil {
			return nil, errors.New("MAILHELM_GITHUB_KEY: must be a PEM text, or the name of a file that the server may read")
		}
	}
	key, err := github.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("MAILHELM_GITHUB_KEY: %w", err)
	}
	return key, nil
}
