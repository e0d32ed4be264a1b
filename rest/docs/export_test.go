package docs_test

import (
	"html"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestExportIsComplete checks that each relative link of each exported page leads to an
// exported file and an id in it, and that no link leads to the server.
func TestExportIsComplete(t *testing.T) {
	t.Parallel()
	for _, prefix := range []string{"/docs"} {
		files := map[string]string{}
		err := newDocs(t, "https://app.test"+prefix).Export(func(name string, body []byte) error {
			files[name] = string(body)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"index.html", "index.md", "guides/contacts.html", "guides/contacts.md", "api/contacts_list.html", "search.html", "search-index.js", "llms.txt", "style.css"} {
			if files[name] == "" {
				t.Errorf("%s is missing", name)
			}
		}
		if !strings.HasPrefix(files["search-index.js"], `window.mailhelmSearch = {"suffix":".html"`) {
			t.Errorf("the index begins with %.60s", files["search-index.js"])
		}
		known := map[string][]string{}
		for name, body := range files {
			for _, id := range ids.FindAllStringSubmatch(body, -1) {
				known[name] = append(known[name], html.UnescapeString(id[1]))
			}
		}
		for name, body := range files {
			if path.Ext(name) != ".html" {
				continue
			}
			for _, link := range links.FindAllStringSubmatch(body, -1) {
				checkExported(t, files, known, name, html.UnescapeString(link[1]))
			}
		}
	}
}

// external matches the address of another site, or of a program such as an editor.
var external = regexp.MustCompile(`^[a-z]+:`)

// checkExported checks one link of an exported page.
func checkExported(t *testing.T, files map[string]string, ids map[string][]string, name, link string) {
	t.Helper()
	if external.MatchString(link) {
		return
	}
	target, fragment, _ := strings.Cut(link, "#")
	file := path.Join(path.Dir(name), target)
	if target == "" {
		file = name
	}
	if _, ok := files[file]; !ok || strings.HasPrefix(target, "/") {
		t.Errorf("%s links to %q, which is not exported", name, link)
	} else if fragment != "" && !slices.Contains(ids[file], fragment) {
		t.Errorf("%s links to %q, which has no such fragment", name, link)
	}
}
