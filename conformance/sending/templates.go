package sending

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	port "github.com/mailhelm/mailhelm/core/sending"
)

// welcome returns a valid template with one variable in its subject, text and HTML.
func welcome() port.Template {
	return port.Template{Name: "welcome", Subject: "Welcome, {{name}}", Text: "Good day {{name}}", HTML: "<p>Grüße an <b>{{name}}</b></p>"}
}

// Templates creates, replaces, reads and deletes a template in an account that has no
// templates.
func Templates(t *testing.T, a port.Account) {
	t.Helper()
	_, err := a.Template(t.Context(), "org", "welcome")
	WantKind(t, "a template that is not there", err, port.NotFound)
	text := port.Template{Name: "welcome", Subject: "Welcome", Text: "{{name}}"}
	for _, want := range []port.Template{welcome(), text, welcome()} {
		for range 2 {
			if err := a.PutTemplate(t.Context(), "org", want); err != nil {
				t.Fatal(err)
			}
		}
		got, err := a.Template(t.Context(), "org", "welcome")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if names := templateNames(t, a); !slices.Equal(names, []string{"welcome"}) {
		t.Errorf("templates %v", names)
	}
	for range 2 {
		if err := a.DeleteTemplate(t.Context(), "org", "welcome"); err != nil {
			t.Error(err)
		}
	}
	if names := templateNames(t, a); len(names) != 0 {
		t.Errorf("after the delete there are %v", names)
	}
}

// templateRoundTrip runs [Templates] on an empty account.
func templateRoundTrip(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	Templates(t, s.Account)
}

// templatesAreApart reads and deletes a template of another organization by its name.
// Neither call may find it.
func templatesAreApart(t *testing.T, s Subject) {
	setup := people()
	setup.Templates = []port.Template{welcome()}
	s.Seed(t, "theirs", setup)
	s.Seed(t, "ours", people())
	_, err := s.Account.Template(t.Context(), "ours", "welcome")
	WantKind(t, "another organization's template", err, port.NotFound)
	if err := s.Account.DeleteTemplate(t.Context(), "ours", "welcome"); err != nil {
		t.Error(err)
	}
	if _, err := s.Account.Template(t.Context(), "theirs", "welcome"); err != nil {
		t.Errorf("after our delete: %v", err)
	}
}

// invalidTemplates writes templates that every account must refuse with Invalid. None of
// them may be stored.
func invalidTemplates(t *testing.T, s Subject) {
	s.Seed(t, "org", people())
	for name, spoil := range map[string]func(*port.Template){
		"no name":           func(c *port.Template) { c.Name = "" },
		"a name with / ":    func(c *port.Template) { c.Name = "a/b" },
		"an endless name":   func(c *port.Template) { c.Name = strings.Repeat("x", 65) },
		"too much of it":    func(c *port.Template) { c.HTML = strings.Repeat("x", 501<<10) },
		"no subject at all": func(c *port.Template) { c.Subject = "" },
	} {
		bad := welcome()
		spoil(&bad)
		WantKind(t, name, s.Account.PutTemplate(t.Context(), "org", bad), port.Invalid)
	}
	if names := templateNames(t, s.Account); len(names) != 0 {
		t.Errorf("refused templates left %v", names)
	}
}

// templatePages reads 230 templates in pages. Each must be read once. A page token that the
// account did not issue must fail with Invalid.
func templatePages(t *testing.T, s Subject) {
	setup := people()
	var want []string
	for i := range 230 {
		one := welcome()
		one.Name = fmt.Sprintf("template-%03d", i)
		setup.Templates, want = append(setup.Templates, one), append(want, one.Name)
	}
	s.Seed(t, "org", setup)
	if got := templateNames(t, s.Account); !slices.Equal(got, want) {
		t.Errorf("%d templates come back as %d, or not the same", len(want), len(got))
	}
	_, _, err := s.Account.TemplatesPage(t.Context(), "org", "no token")
	WantKind(t, "a token that is none", err, port.Invalid)
}

// templateNames returns the names of the templates of all pages.
func templateNames(t *testing.T, a port.Account) []string {
	t.Helper()
	var names []string
	token := ""
	for range maxPages {
		page, next, err := a.TemplatesPage(t.Context(), "org", token)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range page {
			names = append(names, one.Name)
			if one.CreatedAt.IsZero() {
				t.Errorf("%s was never created", one.Name)
			}
		}
		if next == "" {
			slices.Sort(names)
			return names
		}
		token = next
	}
	t.Fatalf("no end after %d pages", maxPages)
	return nil
}
