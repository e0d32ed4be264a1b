package held

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// callTimeout is the longest time that a client waits for an answer.
const callTimeout = 30 * time.Second

// tokenAge is the age at which a client replaces its access token, before the token expires.
const tokenAge = 5 * time.Minute

// mix has the kinds of mixed work, as shares of a hundred calls.
var mix = []struct {
	name  string
	share int
}{
	{"lookup", 40}, {"page of contacts", 5}, {"lists", 10}, {"upsert", 15}, {"activity", 15}, {"tool", 15},
}

// work returns a request of mixed work about a random contact.
func (o *org) work(ctx context.Context) (*http.Request, error) {
	contact := address(rand.IntN(contacts))
	path := "/v1/contacts/" + url.PathEscape(contact)
	switch drawn() {
	case "page of contacts":
		return o.request(ctx, http.MethodGet, "/v1/contacts?limit=50", ""), nil
	case "lists":
		return o.request(ctx, http.MethodGet, "/v1/lists?limit=20", ""), nil
	case "upsert":
		return o.request(ctx, http.MethodPut, path, `{"attributes":{}}`), nil
	case "activity":
		return o.request(ctx, http.MethodPost, "/v1/activities", `[{"name":"visit","email":"`+contact+`"}]`), nil
	case "tool":
		return o.tool(ctx, contact)
	}
	return o.request(ctx, http.MethodGet, path, ""), nil
}

func drawn() string {
	n := rand.IntN(100)
	for _, kind := range mix {
		if n -= kind.share; n < 0 {
			return kind.name
		}
	}
	return mix[0].name
}

// request returns a request of the API. method and path are those of a fixed text, so it cannot
// fail.
func (o *org) request(ctx context.Context, method, path, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, o.server.api+path, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+o.key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// tool returns a call of contacts_lookup at the agent endpoint.
func (o *org) tool(ctx context.Context, contact string) (*http.Request, error) {
	token, err := o.accessToken(ctx)
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.server.mcp+"/mcp",
		strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"`+contact+`"}}}`))
	if err != nil {
		return nil, err
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"},
	}
	return r, nil
}

// accessToken returns an access token for the agent endpoint. Clients share it.
func (o *org) accessToken(ctx context.Context) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.issuedAt) < tokenAge {
		return o.token, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {o.server.mcp}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.server.auth+"/oauth/token", strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	r.SetBasicAuth(o.client, o.password)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := admin.Do(r)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var issued struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&issued); err != nil || issued.Token == "" {
		return "", fmt.Errorf("token: status %d, %w", answer.StatusCode, err)
	}
	o.token, o.issuedAt = issued.Token, time.Now()
	return o.token, nil
}

// newClient returns an HTTP client that keeps up to n idle connections.
func newClient(n int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: n, DisableCompression: true}, Timeout: callTimeout}
}

// do makes a call. It returns an error for a status other than 2xx and for an error of a tool, and
// errBusy if the server is too busy.
func do(c *http.Client, r *http.Request) error {
	answer, err := c.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	text := string(body[:min(len(body), 512)])
	failed := answer.StatusCode >= http.StatusMultipleChoices || strings.Contains(text, `"isError":true`)
	if failed && strings.Contains(text, `"overloaded"`) {
		return errBusy
	}
	if failed {
		return fmt.Errorf("%s %s: status %d: %s", r.Method, r.URL.Path, answer.StatusCode, text)
	}
	return nil
}
