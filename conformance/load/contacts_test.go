package load

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
)

var pagedContacts = flag.Int("load.contacts", 1_000_000, "how many contacts the benchmark of pages has")

const (
	// mirroredAtOnce is the number of contacts that one call of MirrorConsent stores. They
	// all get the same time of change.
	mirroredAtOnce = 5000
	largestPage    = 200
)

// BenchmarkContactPages compares two pages of GET /v1/contacts on each database: the first
// page, and the page after half of the contacts. It reaches the later page by following
// cursors, as a client would. By default there are a million contacts.
func BenchmarkContactPages(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			p := product.Start(b, product.Options{Postgres: engine == "postgres"})
			mirror(b, p)
			address := p.BaseURL + "/v1/contacts"
			cursor := walk(b, p, address, *pagedContacts/2)
			page := func(query url.Values) func() (*http.Request, error) {
				return func() (*http.Request, error) {
					r, err := http.NewRequest(http.MethodGet, address+"?"+query.Encode(), http.NoBody)
					if err == nil {
						r.Header.Set("Authorization", "Bearer "+p.Live.APIKey)
					}
					return r, err
				}
			}
			compare(b, target{"first", page(url.Values{})}, target{"deep", page(url.Values{"cursor": {cursor}})})
		})
	}
}

// mirror stores the benchmark's contacts in the way in which a sync from the sending
// account does, 5,000 in each call. Contacts of one call have the same time of change, one
// second later than those of the call before. All of them changed later than the contacts
// of the demo.
func mirror(b *testing.B, p *product.Product) {
	b.Helper()
	start := p.Clock.Now().Add(time.Hour)
	for from := 0; from < *pagedContacts; from += mirroredAtOnce {
		page := make([]sending.Contact, mirroredAtOnce)
		for i := range page {
			page[i].Email = fmt.Sprintf("person%07d@example.com", from+i)
		}
		at := start.Add(time.Duration(from/mirroredAtOnce) * time.Second)
		if _, _, err := p.DB.Subscribers().MirrorConsent(b.Context(), p.OrgID, page, at, at); err != nil {
			b.Fatal(err)
		}
	}
}

// walk reads pages of contacts until it has read the given number of contacts, rounded down
// to whole pages. It returns the cursor of the next page.
func walk(b *testing.B, p *product.Product, address string, past int) string {
	b.Helper()
	cursor := ""
	for range past / largestPage {
		query := url.Values{"limit": {fmt.Sprint(largestPage)}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		r, err := http.NewRequest(http.MethodGet, address+"?"+query.Encode(), http.NoBody)
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+p.Live.APIKey)
		res, err := p.HTTP.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		var page struct {
			Data       []json.RawMessage `json:"data"`
			Pagination struct {
				NextCursor string `json:"next_cursor"`
			} `json:"pagination"`
		}
		if err == nil {
			err = json.Unmarshal(body, &page)
		}
		if err != nil || len(page.Data) != largestPage || page.Pagination.NextCursor == "" {
			b.Fatalf("%v: %d contacts\n%.300s", err, len(page.Data), body)
		}
		cursor = page.Pagination.NextCursor
	}
	return cursor
}
