package session

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/grants"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/signin"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/tokens"
	"github.com/mailhelm/mailhelm/core"
)

// Config has what a session needs. All fields are required except SignIn.
type Config struct {
	Address string // of the agent endpoint
	Store   grants.Store
	Folder  string // of the lock; see grants.Lock
	HTTP    *http.Client
	Clock   core.Clock
	Retries tokens.Retries
	// SignIn lets the person sign in. client is the id under which the program is registered,
	// "" if it is not. If it fails, the result has only the id of the client that it used.
	SignIn func(ctx context.Context, client string) (Signed, error)
}

// Signed is the result of a sign-in: the tokens and where they come from.
type Signed struct {
	signin.Granted
	Issuer, TokenEndpoint, RevokeEndpoint, Resource string
}

// Session is the access to one agent endpoint. It is safe for use by several goroutines.
type Session struct {
	cfg Config

	mu    sync.Mutex // held while tokens are requested
	grant grants.Grant
	// refused is the error of a failed sign-in. This process then does not open the browser
	// again.
	refused error
}

// New returns a session that has read nothing from the store yet.
func New(cfg Config) *Session { return &Session{cfg: cfg} }

// margin is how long before its end an access token is refreshed.
const margin = time.Minute

// Token returns an access token that is valid for at least one more minute by the clock of
// this machine. It refreshes the token, or lets the person sign in, if that is necessary.
func (s *Session) Token(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fresh("") {
		return s.grant.AccessToken, nil
	}
	return s.renew(ctx, "")
}

// Renew returns another access token after the server refused one. If another call or
// another process has replaced the refused token already, it returns the replacement.
func (s *Session) Renew(ctx context.Context, refused string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fresh(refused) {
		return s.grant.AccessToken, nil
	}
	return s.renew(ctx, refused)
}

// fresh reports whether the access token is valid for at least the margin and is another
// one than refused.
func (s *Session) fresh(refused string) bool {
	return s.grant.AccessToken != "" && s.grant.AccessToken != refused && s.cfg.Clock().Add(margin).Before(s.grant.AccessTokenUntil)
}

// renew gets an access token from the store, by the refresh token or by a sign-in, in this
// order. It holds the lock of the grant until it returns, so that no refresh token is used
// twice.
func (s *Session) renew(ctx context.Context, refused string) (string, error) {
	unlock, err := grants.Lock(ctx, s.cfg.Folder, s.cfg.Address)
	if err != nil {
		return "", err
	}
	defer unlock()
	s.grant, err = s.cfg.Store.Load(s.cfg.Address)
	if err != nil && !errors.Is(err, grants.ErrNone) {
		return "", fmt.Errorf("read the grant from %s: %w", s.cfg.Store.Where(s.cfg.Address), err)
	}
	if s.fresh(refused) {
		return s.grant.AccessToken, nil
	}
	if s.grant.RefreshToken != "" {
		ended, err := s.refresh(ctx)
		if err == nil {
			return s.grant.AccessToken, nil
		}
		if !ended {
			return "", err
		}
	}
	if err := s.signIn(ctx); err != nil {
		return "", err
	}
	return s.grant.AccessToken, nil
}

// refreshTimeout is the time limit of a refresh with its repetitions.
const refreshTimeout = time.Minute

// refresh replaces the access token and the refresh token, and stores them. It returns true
// if the grant has ended, so that the person must sign in again. The end of ctx does not
// interrupt it: the server may have replaced the refresh token already, and the new one
// would be lost.
//
// A request whose answer is lost is repeated with the same refresh token. If the server had
// not handled the first request, the repetition succeeds. If it had, the repetition counts as
// a second use, which ends the grant. Nothing is lost by that: without the answer, no valid
// refresh token is left, and the person must sign in again in any case.
func (s *Session) refresh(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshTimeout)
	defer cancel()
	client := s.client(s.grant)
	token, err := s.cfg.Retries.Do(ctx, func() (tokens.Token, error) { return client.ByRefresh(ctx, s.grant.RefreshToken) })
	switch code := tokens.Code(err); {
	case code == "invalid_grant":
		s.grant.AccessToken, s.grant.RefreshToken = "", ""
		return true, s.save(err)
	case isClientRefused(code):
		s.grant = grants.Grant{}
		return true, errors.Join(err, s.cfg.Store.Delete(s.cfg.Address))
	}
	if err != nil {
		return false, fmt.Errorf("refresh the access: %w", err)
	}
	s.setToken(token)
	return false, s.save(nil)
}

// signIn lets the person sign in, stores the grant, and revokes the one that it replaces.
// After a failure it fails at once, so that an assistant that repeats calls does not open one
// window after another.
func (s *Session) signIn(ctx context.Context) error {
	if s.refused != nil {
		return s.refused
	}
	signed, err := s.cfg.SignIn(ctx, s.grant.ClientID)
	if errors.Is(err, context.Canceled) {
		return err // the client gave up; the next call may ask again
	}
	if err != nil {
		s.refused = s.keepOrForget(signed.ClientID, err)
		return s.refused
	}
	replaced := s.grant
	s.grant = grants.Grant{
		Address: s.cfg.Address, Issuer: signed.Issuer, TokenEndpoint: signed.TokenEndpoint, RevokeEndpoint: signed.RevokeEndpoint,
		ClientID: signed.ClientID, Resource: signed.Resource,
	}
	s.setToken(signed.Token)
	if err := s.save(nil); err != nil {
		return err
	}
	if err := s.revoke(ctx, replaced); err != nil {
		return fmt.Errorf("the sign-in succeeded, but the earlier grant is not revoked at the server: revoke it on the dashboard: %w", err)
	}
	return nil
}

// keepOrForget handles the error of a failed sign-in of a client, and returns it. The stored
// grant may still be valid, so it is removed only if the server refused its client, or if
// nothing is left of it but a client that the server may not know any more: the server then
// shows an error page, and the sign-in ends by its time limit.
func (s *Session) keepOrForget(client string, err error) error {
	if client == "" || client != s.grant.ClientID {
		return err
	}
	code, late := tokens.Code(err), errors.Is(err, signin.ErrTimeLimit)
	switch {
	case isClientRefused(code), late && s.grant.RefreshToken == "":
		s.grant = grants.Grant{}
		return errors.Join(err, s.cfg.Store.Delete(s.cfg.Address))
	case late:
		return fmt.Errorf("%w; the earlier grant is kept: if the browser shows that the client is unknown, sign out first", err)
	}
	return err
}

// isClientRefused reports whether an error code of the token endpoint means that the server
// does not know the client any more, or does not let it use the grant type.
func isClientRefused(code string) bool {
	return code == "invalid_client" || code == "unauthorized_client"
}

// revoke revokes a grant at the server. It does nothing if the grant has ended, or if the
// server has no endpoint for that.
func (s *Session) revoke(ctx context.Context, g grants.Grant) error {
	if g.RefreshToken == "" || g.RevokeEndpoint == "" {
		return nil
	}
	return tokens.Explain(s.client(g).Revoke(ctx, g.RevokeEndpoint, g.RefreshToken))
}

// SignIn lets the person sign in, even if a grant is stored, which it then replaces and
// revokes. It returns the granted scopes.
func (s *Session) SignIn(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := grants.Lock(ctx, s.cfg.Folder, s.cfg.Address)
	if err != nil {
		return "", err
	}
	defer unlock()
	if stored, err := s.cfg.Store.Load(s.cfg.Address); err == nil {
		s.grant = stored
	}
	s.refused = nil
	err = s.signIn(ctx)
	return s.grant.Scope, err
}

// SignOut revokes the stored grant at the server and removes it from this machine. It
// removes it even if the server cannot be reached, and then returns the error. It fails with
// grants.ErrNone if no grant is stored.
func (s *Session) SignOut(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	unlock, err := grants.Lock(ctx, s.cfg.Folder, s.cfg.Address)
	if err != nil {
		return err
	}
	defer unlock()
	s.grant, err = s.cfg.Store.Load(s.cfg.Address)
	if errors.Is(err, grants.ErrNone) {
		return err
	}
	revoked := s.revoke(ctx, s.grant)
	if err := s.cfg.Store.Delete(s.cfg.Address); err != nil {
		return errors.Join(err, revoked)
	}
	s.grant = grants.Grant{}
	if revoked != nil {
		return fmt.Errorf("the grant is removed from this machine, but not revoked at the server: revoke it on the dashboard: %w", revoked)
	}
	return nil
}

// client returns the OAuth client of a grant.
func (s *Session) client(g grants.Grant) tokens.Client {
	return tokens.Client{HTTP: s.cfg.HTTP, Endpoint: g.TokenEndpoint, ID: g.ClientID, Clock: s.cfg.Clock}
}

// setToken takes over a token of the server. A server that does not replace refresh tokens
// leaves the refresh token out.
func (s *Session) setToken(t tokens.Token) {
	s.grant.AccessToken, s.grant.AccessTokenUntil = t.Access, t.ExpiresAt
	if t.Refresh != "" {
		s.grant.RefreshToken = t.Refresh
	}
	if t.Scope != "" {
		s.grant.Scope = t.Scope
	}
}

// save stores the grant. It returns err, or else the error of storing.
func (s *Session) save(err error) error {
	saved := s.cfg.Store.Save(s.grant)
	if err != nil || saved == nil {
		return err
	}
	return fmt.Errorf("store the grant in %s: %w", s.cfg.Store.Where(s.grant.Address), saved)
}
