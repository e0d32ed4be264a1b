package access

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// maxRedirectURIs and maxRedirectURI, in bytes, bound what a client registers.
const (
	maxRedirectURIs = 20
	maxRedirectURI  = 2000
)

// refreshDays are the lifetimes that a client's grants can have.
var refreshDays = []int{0, 30, 90, 365}

// EditClient stores the name, scopes, redirect URIs and refresh lifetime that c
// says for the client with its OrgID and ID, and returns the client as it is then.
// It fails with core.CodeValidationFailed like CreateClient, with
// core.CodeNotFound for an unknown client and core.CodeConflict for a revoked one.
func (l Lifecycle) EditClient(ctx context.Context, actor Actor, c Client) (Client, error) {
	var stored Client
	err := l.change(ctx, func(ctx context.Context, now time.Time) error {
		var err error
		if stored, err = l.Keys.ClientByID(ctx, c.OrgID, c.ID); err != nil {
			return err
		}
		if stored.RevokedAt != nil {
			return core.Conflict("This OAuth client was revoked.", "Register a new client.")
		}
		before := stored.Scopes
		stored.Name, stored.Scopes, stored.RedirectURIs, stored.RefreshDays = c.Name, c.Scopes, c.RedirectURIs, c.RefreshDays
		if err := stored.check(); err != nil {
			return err
		}
		if err := l.Keys.SetClient(ctx, stored); err != nil {
			return err
		}
		return l.record(ctx, now, happening{
			actor: actor, action: "oauth_client.updated", orgID: c.OrgID, subject: c.ID, detail: diffScopes(before, stored.Scopes),
		})
	}, c.ID)
	if err != nil {
		return Client{}, err
	}
	return stored, nil
}

// check refuses a registration that cannot be, and brings its scopes into form.
func (c *Client) check() error {
	if err := checkName(c.Name); err != nil {
		return err
	}
	scopes, err := checkScopes(c.Scopes)
	if err != nil {
		return err
	}
	c.Scopes = scopes
	switch {
	case !slices.Contains(refreshDays, c.RefreshDays):
		return core.Invalid("refresh_days", "must be 30, 90 or 365, or 0 for never ending")
	case len(c.RedirectURIs) > maxRedirectURIs:
		return core.Invalid("redirect_uris", fmt.Sprintf("must be at most %d", maxRedirectURIs))
	case len(c.RedirectURIs) == 0 && c.SecretHash == nil:
		return core.Invalid("redirect_uris", "must hold one for a public client, which can get tokens in no other way")
	}
	for _, uri := range c.RedirectURIs {
		if reason := redirectRefusal(uri); reason != "" {
			return core.Invalid("redirect_uris", reason)
		}
	}
	return nil
}

// redirectRefusal says what is wrong with a redirect URI, or "". Codes travel
// there, so it has to be encrypted unless it stays on the machine, and exact, so
// that comparing it byte for byte means something (RFC 9700 section 4.1.3).
func redirectRefusal(uri string) string {
	u, err := url.Parse(uri)
	switch {
	case len(uri) > maxRedirectURI:
		return fmt.Sprintf("must have at most %d characters each", maxRedirectURI)
	case err != nil || u.Opaque != "" || u.Hostname() == "" || strings.ContainsFunc(uri, rewritten):
		return "must be whole web addresses such as https://app.example.com/callback"
	case strings.Contains(uri, "*"):
		return "must be exact: there are no wildcards"
	case u.User != nil || strings.Contains(uri, "#"):
		return "must hold neither a user nor a fragment"
	case !strings.HasPrefix(uri, "https://") && !(strings.HasPrefix(uri, "http://") && loopbackHost(u.Hostname())):
		return "must begin with https://, or with http:// on localhost"
	}
	return ""
}

func loopbackHost(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// rewritten reports characters that a browser would change or read as another.
func rewritten(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`\"<>`, r) }
