package names

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	// freshness is how long names are kept.
	freshness = time.Minute
	// pageSize is the number of items in a page, the greatest that the API allows.
	pageSize = "200"
	// maxPages limits the pages of one kind of name.
	maxPages = 100
	// maxAnswer limits the bytes of an answer.
	maxAnswer = 16 << 20
	// timeout is the time limit of one request.
	timeout = 10 * time.Second
)

// Client reads names from a server and keeps them for a minute. It is safe for concurrent
// use.
type Client struct {
	server, key string
	http        *http.Client
	clock       core.Clock

	mu   sync.Mutex
	kept Names
	// until is when kept ends; zero if nothing is kept.
	until time.Time
}

// New returns a client for the API at an address, with an API key. It fails if the address
// is no URL of HTTP.
func New(server, key string, clock core.Clock) (*Client, error) {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the address of the API is %q: write it as https://api.example.com", server)
	}
	return &Client{
		server: strings.TrimSuffix(server, "/"), key: key, clock: clock,
		http: &http.Client{
			Timeout: timeout,
			// The key is for this address only.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Names returns the names of the organization that the key belongs to, at most a minute
// old. Errors say which scope the key lacks, or why the server gave no answer.
func (c *Client) Names(ctx context.Context) (Names, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.clock().Before(c.until) {
		return c.kept, nil
	}
	names, err := c.fetch(ctx)
	if err != nil {
		return Names{}, fmt.Errorf("read the names of the organization: %w", err)
	}
	c.kept, c.until = names, c.clock().Add(freshness)
	return names, nil
}

func (c *Client) fetch(ctx context.Context) (Names, error) {
	var n Names
	var newest []struct {
		Name string `json:"name"`
	}
	for _, read := range []func() error{
		func() error { return all(ctx, c, "attributes", maxPages, &n.Attributes) },
		func() error { return all(ctx, c, "topics", maxPages, &n.Topics) },
		func() error { return all(ctx, c, "lists", maxPages, &n.Lists) },
		func() error { return all(ctx, c, "segments", maxPages, &n.Segments) },
		func() error { return all(ctx, c, "templates", maxPages, &n.Templates) },
		func() error { return all(ctx, c, "activity-properties", maxPages, &n.properties) },
		func() error { return all(ctx, c, "activities", 1, &newest) },
	} {
		if err := read(); err != nil {
			return Names{}, err
		}
	}
	for _, p := range n.properties {
		n.Activities = append(n.Activities, p.Activity)
	}
	for _, activity := range newest {
		n.Activities = append(n.Activities, activity.Name)
	}
	slices.Sort(n.Activities)
	n.Activities = slices.Compact(n.Activities)
	return n, nil
}

// all appends the items of at most most pages of a route to items.
func all[T any](ctx context.Context, c *Client, route string, most int, items *[]T) error {
	cursor := ""
	for range most {
		var page struct {
			Data       []T `json:"data"`
			Pagination struct {
				HasMore bool   `json:"has_more"`
				Next    string `json:"next_cursor"`
			} `json:"pagination"`
		}
		query := url.Values{}
		if route != "topics" { // topics are in one answer, and the route has no arguments
			query.Set("limit", pageSize)
		}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		if err := c.get(ctx, "/v1/"+route, query, &page); err != nil {
			return err
		}
		*items = append(*items, page.Data...)
		if cursor = page.Pagination.Next; !page.Pagination.HasMore || cursor == "" {
			return nil
		}
	}
	return nil
}

// get reads the answer of a route into answer.
func (c *Client) get(ctx context.Context, path string, query url.Values, answer any) error {
	address := c.server + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.key)
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("GET %s: %w", path, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s is answered with status %d%s", path, response.StatusCode, problem(body))
	}
	if err := json.Unmarshal(body, answer); err != nil {
		return fmt.Errorf("GET %s is answered with other JSON than that of Mailhelm: %w", path, err)
	}
	return nil
}

// problem returns the explanation in a problem document, after a colon; "" if there is none.
func problem(body []byte) string {
	var document struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
	}
	if json.Unmarshal(body, &document) != nil || document.Detail+document.Title == "" {
		return ""
	}
	if document.Detail == "" {
		return ": " + document.Title
	}
	return ": " + document.Detail
}
