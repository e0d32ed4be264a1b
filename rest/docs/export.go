package docs

import (
	"html"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Export passes every file of the site to write, with its name relative to the folder of
// the site. Links between the files are relative, so the folder works below any address and
// from a disk. The search of the exported site works with the script alone.
func (s *Site) Export(write func(name string, body []byte) error) error {
	c, err := s.content()
	if err != nil {
		return err
	}
	pages := maps.Clone(c.pages)
	pages[searchPath] = func() (page, error) { return c.renderSearch(&found{}) }
	pages[indexPath] = func() (page, error) { return c.script(".html") }
	for _, target := range slices.Sorted(maps.Keys(pages)) {
		made, err := pages[target]()
		if err != nil {
			return err
		}
		body := made.body
		if strings.HasPrefix(made.contentType, "text/html") {
			body = c.relative(target, body)
		}
		if err := write(fileOf(target), body); err != nil {
			return err
		}
	}
	return nil
}

// fileOf returns the name of the file for a path of the site.
func fileOf(target string) string {
	name := strings.TrimPrefix(target, "/")
	switch {
	case name == "":
		return "index.html"
	case path.Ext(name) == "":
		return name + ".html"
	}
	return name
}

var linkAttribute = regexp.MustCompile(`\b(href|src|action)="([^"]*)"`)

// relative replaces the addresses of this site in a page by relative ones.
func (c *content) relative(target string, body []byte) []byte {
	up := strings.Repeat("../", strings.Count(fileOf(target), "/"))
	return linkAttribute.ReplaceAllFunc(body, func(attribute []byte) []byte {
		parts := linkAttribute.FindSubmatch(attribute)
		link := html.UnescapeString(string(parts[2]))
		rest, ours := strings.CutPrefix(link, c.prefix+"/")
		if link == c.prefix {
			rest, ours = "", true
		}
		if !ours {
			return attribute
		}
		to, fragment, cut := strings.Cut(rest, "#")
		if cut {
			fragment = "#" + fragment
		}
		return []byte(string(parts[1]) + `="` + html.EscapeString(up+fileOf("/"+to)+fragment) + `"`)
	})
}
