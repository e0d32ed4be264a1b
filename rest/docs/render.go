package docs

import (
	"bytes"
	"embed"
	"fmt"
	"html"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
)

//go:embed pages/*.html
var templates embed.FS

//go:embed pages/style.css
var stylesheet []byte

// view is the data of a template: what the common layout needs, and the page's own data.
type view struct {
	Title  string
	Prefix string
	// Section is the navigation entry that the page belongs to, or "".
	Section string
	Commit  string
	Config  Config
	Data    any
}

// addPages adds every page of the documentation to the site.
func (s *site) addPages(cfg Config) {
	style := newPage("text/css; charset=utf-8", stylesheet)
	s.pages["/style.css"] = func() (page, error) { return style, nil }
	for _, p := range []struct {
		path, file, title, section string
		data                       func() (any, error) // nil for none
	}{
		{"", "start.html", "Mailhelm", "start", nil},
		{"/api", "operations.html", "Tools and routes", "api", func() (any, error) { return operationsOf(cfg), nil }},
		{"/api/conventions", "conventions.html", "Conventions", "conventions", nil},
		{"/guides/agent-endpoint", "agent-endpoint.html", "Connect an agent", "", nil},
		{"/guides/sending-account", "sending-account.html", "Connect a sending account", "", nil},
		{"/guides/contacts", "contacts.html", "Create and change contacts", "", nil},
		{"/guides/attributes", "attributes.html", "Define attributes of contacts", "", nil},
		{"/guides/predicates", "predicates.html", "Write predicates for segments", "", func() (any, error) { return predicate.Reference, nil }},
		{"/guides/activities", "activities.html", "Record activities", "", nil},
		{"/guides/refresh-tokens", "refresh-tokens.html", "Fix a refresh token that was used twice", "", nil},
		{"/guides/passwords", "passwords.html", "Set and reset passwords", "", nil},
		{"/guides/observability", "observability.html", "Monitor a server", "", nil},
		{"/scopes", "scopes.html", "Scopes", "scopes", func() (any, error) { return scopesOf(cfg), nil }},
		{"/api/errors", "errors.html", "Errors", "errors", func() (any, error) { return core.Codes(), nil }},
	} {
		s.pages[p.path] = s.rendering(cfg, p.file, p.title, p.section, p.data)
	}
	for _, info := range core.Codes() {
		detail := func() (any, error) { return errorPage(cfg, info) }
		s.pages["/api/errors/"+string(info.Code)] = s.rendering(cfg, "error.html", string(info.Code), "errors", detail)
	}
	s.missing = s.rendering(cfg, "missing.html", "Page not found", "", nil)
}

// rendering returns the rendering of a page from the template in a file. data returns the
// page's own data; nil means none.
func (s *site) rendering(cfg Config, file, title, section string, data func() (any, error)) rendering {
	return sync.OnceValues(func() (page, error) {
		var own any
		if data != nil {
			var err error
			if own, err = data(); err != nil {
				return page{}, err
			}
		}
		return s.page(cfg, file, title, section, own)
	})
}

// page renders the template in a file with the given data and returns the page.
func (s *site) page(cfg Config, file, title, section string, data any) (page, error) {
	parsed, err := parse()
	if err != nil {
		return page{}, err
	}
	var b bytes.Buffer
	err = parsed[file].Execute(&b, view{Title: title, Prefix: s.prefix, Section: section, Commit: cfg.Commit, Config: cfg, Data: data})
	if err != nil {
		return page{}, fmt.Errorf("page %s: %w", file, err)
	}
	return newPage("text/html; charset=utf-8", b.Bytes()), nil
}

// parse returns the template of each page, with the common layout, by file name. All sites
// in a process share the templates, because html/template prepares the escaping of a
// template when it is first executed, which takes most of the time.
var parse = sync.OnceValues(func() (map[string]*template.Template, error) {
	frame, err := template.New("frame.html").Funcs(template.FuncMap{"marks": marks, "paragraphs": paragraphs}).
		ParseFS(templates, "pages/frame.html")
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(templates, "pages/*.html")
	if err != nil {
		return nil, err
	}
	parsed := map[string]*template.Template{}
	for _, file := range files {
		t, err := frame.Clone()
		if err == nil {
			t, err = t.ParseFS(templates, file)
		}
		if err != nil {
			return nil, err
		}
		parsed[path.Base(file)] = t
	}
	return parsed, nil
})

// marks converts a text of a catalogue, such as that of operations or error codes, to HTML.
// It shows text between backquotes as code. The catalogues use no other mark-up.
func marks(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		part = html.EscapeString(part)
		if i%2 == 1 {
			part = "<code>" + part + "</code>"
		}
		b.WriteString(part)
	}
	return template.HTML(b.String()) //nolint:gosec // every part is escaped above
}

// paragraphs splits a text into paragraphs at empty lines.
func paragraphs(text string) []string {
	return strings.Split(strings.TrimSpace(text), "\n\n")
}
