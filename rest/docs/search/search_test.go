package search_test

import (
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/rest/docs/search"
)

func newIndex() *search.Index {
	return search.New([]search.Entry{
		{Path: "/api/contacts_update", Title: "Change a contact", Body: "Changes the given members of an active contact."},
		{Path: "/api/contacts_update", ID: "email", Title: "Change a contact", Heading: "email", Body: "Address of the contact."},
		{Path: "/api/errors/rate_limited", Title: "Rate limited", Body: "Too many calls in a minute."},
		{Path: "/scopes", ID: "api.contacts.view", Title: "Scopes", Heading: "api.contacts.view", Body: "Reads contacts."},
		{Path: "/guides/limits", ID: "rates", Title: "Limits", Heading: "Rate limits", Body: "Calls above the limit are answered with rate_limited, a code of errors."},
	})
}

func TestSearch(t *testing.T) {
	t.Parallel()
	x := newIndex()
	for query, want := range map[string]string{
		"rate_limited":           "/api/errors/rate_limited#",
		"contacts_update":        "/api/contacts_update#",
		"api.contacts.view":      "/scopes#api.contacts.view",
		"change contact":         "/api/contacts_update#",
		"email":                  "/api/contacts_update#email",
		"EMA":                    "/api/contacts_update#email",
		"rate limits":            "/guides/limits#rates",
		"<script>rate limits</>": "",
	} {
		results := x.Search(query)
		got := ""
		if len(results) > 0 {
			got = results[0].Path + "#" + results[0].ID
		}
		if got != want {
			t.Errorf("%q finds %q first, want %q", query, got, want)
		}
	}
	for _, query := range []string{"", " ", "?!", "unknownword", "contacts unknownword"} {
		if results := x.Search(query); len(results) != 0 {
			t.Errorf("%q finds %+v", query, results)
		}
	}
}

// TestSnippets checks that a snippet marks the terms, and that its parts are the text.
func TestSnippets(t *testing.T) {
	t.Parallel()
	long := search.New([]search.Entry{{Path: "/a", Title: "A", Body: strings.Repeat("before ", 40) + "<b>NEEDLE</b> in the hay" + strings.Repeat(" after", 60)}})
	results := long.Search("needle hay")
	if len(results) != 1 {
		t.Fatalf("%+v", results)
	}
	text, hits := "", []string{}
	for _, part := range results[0].Snippet {
		text += part.Text
		if part.Hit {
			hits = append(hits, part.Text)
		}
	}
	if strings.Join(hits, ",") != "NEEDLE,hay" || !strings.HasPrefix(text, "… ") || !strings.HasSuffix(text, " …") || len([]rune(text)) > 230 {
		t.Errorf("hits %v in %q", hits, text)
	}
}

// TestSearchIsBounded checks the number of results, and that a long query is cut.
func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	var entries []search.Entry
	for i := range 500 {
		path := "/" + strings.Repeat("p", i/10+1)
		entries = append(entries, search.Entry{Path: path, ID: strings.Repeat("i", i%10+1), Title: "Title", Heading: "common", Body: "common words"})
	}
	x := search.New(entries)
	results := x.Search("common")
	perPage := map[string]int{}
	for _, r := range results {
		perPage[r.Path]++
	}
	if len(results) != 30 || perPage[results[0].Path] > 4 {
		t.Errorf("%d results, %d of one page", len(results), perPage[results[0].Path])
	}
	if got := x.Search("common " + strings.Repeat("x", 100_000)); len(got) != 0 {
		t.Errorf("%d results", len(got))
	}
}
