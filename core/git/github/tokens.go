package github

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
)

// renewBefore is how long before its end a token is not used any more, so that it does not end during
// a read.
const renewBefore = fetchTime + time.Minute

// tokenKey identifies a token: it is for one repository of an installation.
type tokenKey struct {
	installation int64
	repository   string // owner/name in lower case
}

// token is an installation token.
type token struct {
	mu    sync.Mutex // held while the token is requested
	value string
	until time.Time
}

// grant are the permissions of tokens: to read files, and to propose changes.
var grant = map[string]string{"contents": "write", "pull_requests": "write", "metadata": "read"}

// tokenFor returns a token for the repository of a connection, from memory if there is one that is
// valid for long enough. It can do nothing with other repositories, even of the same installation.
func (a *client) tokenFor(ctx context.Context, c git.Connection) (string, error) {
	_, name, ok := strings.Cut(c.Location, "/")
	if !ok || c.Installation <= 0 {
		return "", git.Refuse("%s is not the name of a repository on GitHub. Connect the repository again.", core.Quote(c.Location))
	}
	key := tokenKey{c.Installation, strings.ToLower(c.Location)}
	now := a.cfg.Clock()
	held := a.held(key, now)
	held.mu.Lock()
	defer held.mu.Unlock()
	if now.Before(held.until) {
		return held.value, nil
	}
	app, err := a.appToken()
	if err != nil {
		return "", err
	}
	var got struct {
		Token     string    `json:"token"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	answer, err := a.call(ctx, request{
		method: http.MethodPost, path: fmt.Sprintf("/app/installations/%d/access_tokens", c.Installation), credential: app, payer: appPayer,
		body: map[string]any{"repositories": []string{name}, "permissions": grant}, want: http.StatusCreated, into: &got,
	})
	switch {
	case err != nil:
		return "", err
	case answer.Status != http.StatusCreated:
		return "", tokenRefusal(answer, c)
	case got.Token == "":
		return "", fmt.Errorf("github: an installation token without a value")
	}
	held.value, held.until = got.Token, got.ExpiresAt.Add(-renewBefore)
	return held.value, nil
}

// held returns the token of a key, and forgets those that have ended.
func (a *client) held(key tokenKey, now time.Time) *token {
	a.mu.Lock()
	defer a.mu.Unlock()
	if held := a.tokens[key]; held != nil {
		return held
	}
	maps.DeleteFunc(a.tokens, func(_ tokenKey, held *token) bool {
		if !held.mu.TryLock() {
			return false // is being requested
		}
		defer held.mu.Unlock()
		return !now.Before(held.until)
	})
	held := &token{}
	a.tokens[key] = held
	return held
}

// forget forgets the token of a connection, which GitHub does not take any more.
func (a *client) forget(c git.Connection) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.tokens, tokenKey{c.Installation, strings.ToLower(c.Location)})
}

// tokenRefusal says why there is no token for a connection.
func tokenRefusal(answer answer, c git.Connection) error {
	switch answer.Status {
	case http.StatusUnauthorized:
		return git.Refuse("GitHub does not accept the app of this server. Ask the operator to check the id and the private key of the app.")
	case http.StatusForbidden:
		return git.Refuse("The installation of the app is suspended on GitHub. Unsuspend it there.")
	case http.StatusNotFound:
		return git.Refuse("The app is not installed on GitHub any more. Connect the repository again.")
	case http.StatusUnprocessableEntity:
		return git.Refuse("The app may not use the repository %s, or lacks the permission to read files and to open pull requests. Change the installation on GitHub. GitHub says: %s", core.Quote(c.Location), answer.message())
	default:
		return answer.failure()
	}
}
