package dashboard_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"

	nethtml "golang.org/x/net/html"
)

// forms matches each POST form of a page. The groups are its action and its content.
var forms = regexp.MustCompile(`(?s)<form method="post" action="([^"]*)">(.*?)</form>`)

// form returns the values that a browser would send for the unchanged form with this
// action. It fails the test if the page has no such form.
func (b *browser) form(page, action string) url.Values {
	b.t.Helper()
	for _, found := range forms.FindAllStringSubmatch(page, -1) {
		if html.UnescapeString(found[1]) == action {
			return formValues(found[2])
		}
	}
	b.t.Fatalf("the page has no form to %s: %s", action, page)
	return nil
}

// formValues returns the values that a browser would send for the unchanged fields in a
// form's HTML.
func formValues(content string) url.Values {
	values := url.Values{}
	root, err := nethtml.Parse(strings.NewReader(content))
	if err != nil {
		return values
	}
	for n := range root.Descendants() {
		name, named := attribute(n, "name")
		if _, off := attribute(n, "disabled"); off || !named {
			continue
		}
		switch n.Data {
		case "input":
			if value, sent := inputValue(n); sent {
				values.Add(name, value)
			}
		case "textarea":
			values.Add(name, textOf(n))
		case "select":
			values.Add(name, selected(n))
		}
	}
	return values
}

func inputValue(n *nethtml.Node) (string, bool) {
	kind, _ := attribute(n, "type")
	value, valued := attribute(n, "value")
	if kind != "checkbox" && kind != "radio" {
		return value, true
	}
	if !valued {
		value = "on"
	}
	_, checked := attribute(n, "checked")
	return value, checked
}

// selected returns the value of the select element's selected option, or of its first
// option if none is selected.
func selected(n *nethtml.Node) string {
	value, first := "", true
	for option := range n.Descendants() {
		if option.Data != "option" {
			continue
		}
		own, _ := attribute(option, "value")
		if _, marked := attribute(option, "selected"); marked || first {
			value, first = own, false
		}
	}
	return value
}

// textOf returns the text in an element. For a textarea, the HTML parser has already
// removed the line break after the start tag.
func textOf(n *nethtml.Node) string {
	var b strings.Builder
	for child := range n.Descendants() {
		if child.Type == nethtml.TextNode {
			b.WriteString(child.Data)
		}
	}
	return b.String()
}

func attribute(n *nethtml.Node, name string) (string, bool) {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val, true
		}
	}
	return "", false
}
