package tokens

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// defaultLife is the assumed lifetime of a token if the answer does not say it.
const defaultLife = 5 * time.Minute

// Token is the answer of the token endpoint. Refresh is "" for client credentials.
type Token struct {
	Access    string
	Refresh   string
	Scope     string
	ExpiresAt time.Time
}

// Client is an OAuth client at one authorization server. Secret is "" for a public client.
type Client struct {
	HTTP     *http.Client
	Endpoint string // URL of the token endpoint
	ID       string
	Secret   string
	Clock    core.Clock
}

// ByCredentials requests a token for the resource by client_credentials (RFC 6749 section
// 4.4). Without scopes the server grants all scopes of the client.
func (c Client) ByCredentials(ctx context.Context, resource string, scopes []string) (Token, error) {
	config := clientcredentials.Config{
		ClientID: c.ID, ClientSecret: c.Secret, TokenURL: c.Endpoint, Scopes: scopes, AuthStyle: oauth2.AuthStyleInHeader,
	}
	if resource != "" {
		config.EndpointParams = url.Values{"resource": {resource}}
	}
	t, err := config.Token(c.with(ctx))
	return c.token(t), err
}

// ByCode redeems an authorization code with its PKCE verifier for a token of the resource.
func (c Client) ByCode(ctx context.Context, code, verifier, redirect, resource string) (Token, error) {
	config := c.config()
	config.RedirectURL = redirect
	t, err := config.Exchange(c.with(ctx), code, oauth2.VerifierOption(verifier), oauth2.SetAuthURLParam("resource", resource))
	return c.token(t), err
}

// ByRefresh redeems a refresh token. Mailhelm's refresh tokens can be used once: the answer
// has the next one. A second use ends the grant, so the caller must store the answer before
// anything else uses the grant.
func (c Client) ByRefresh(ctx context.Context, refresh string) (Token, error) {
	config := c.config()
	t, err := config.TokenSource(c.with(ctx), &oauth2.Token{RefreshToken: refresh}).Token()
	return c.token(t), err
}

// Revoke ends the grant of a refresh token at the revocation endpoint (RFC 7009).
func (c Client) Revoke(ctx context.Context, endpoint, refresh string) error {
	form := url.Values{"token": {refresh}, "token_type_hint": {"refresh_token"}, "client_id": {c.ID}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := c.HTTP.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return &oauth2.RetrieveError{Response: answer}
	}
	return nil
}

// config returns the library's description of the client.
func (c Client) config() oauth2.Config {
	return oauth2.Config{
		ClientID: c.ID, ClientSecret: c.Secret,
		Endpoint: oauth2.Endpoint{TokenURL: c.Endpoint, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// with returns a context from which the library takes the HTTP client.
func (c Client) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c.HTTP)
}

// token converts the library's token, with the end of its life by the client's clock. It
// returns the zero Token for nil.
func (c Client) token(t *oauth2.Token) Token {
	if t == nil {
		return Token{}
	}
	scope, _ := t.Extra("scope").(string)
	seconds, _ := t.Extra("expires_in").(float64) // the library does not set ExpiresIn for every grant type
	life := cmp.Or(time.Duration(seconds)*time.Second, defaultLife)
	return Token{Access: t.AccessToken, Refresh: t.RefreshToken, Scope: scope, ExpiresAt: c.Clock().Add(life)}
}
