package safehtml

import (
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"golang.org/x/net/html"
)

// Clean returns HTML without active content: what a browser shows inside of the body element.
// Scripts, forms, frames, links, remote images, style elements and comments are left out. A
// link keeps its address as the title, which browsers show on hover. An image that is not in
// the HTML itself is represented by its alternative text.
//
// Clean accepts any bytes, and takes time and memory proportional to the input.
func Clean(source string) string {
	c := cleaner{}
	z := html.NewTokenizer(strings.NewReader(source))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return c.b.String()
		case html.TextToken:
			if c.dropped == "" {
				c.b.WriteString(escape(string(z.Text())))
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			c.start(z.Token())
		case html.EndTagToken:
			name, _ := z.TagName()
			c.end(string(name))
		}
	}
}

// cleaner writes the allowed part of a document.
type cleaner struct {
	b strings.Builder
	// dropped is the name of the open element whose content is left out, "" for none, and
	// depth is the number of open elements with this name.
	dropped string
	depth   int
}

// start writes a start tag, if its element is allowed.
func (c *cleaner) start(t html.Token) {
	if c.dropped != "" {
		if t.Data == c.dropped && t.Type == html.StartTagToken {
			c.depth++
		}
		return
	}
	if droppedElements[t.Data] {
		if t.Type == html.StartTagToken {
			c.dropped, c.depth = t.Data, 1
		}
		return
	}
	name := written(t.Data)
	if name == "" {
		return
	}
	c.b.WriteString("<" + name)
	c.attributes(t)
	c.b.WriteByte('>')
}

// end writes an end tag, if its element is allowed.
func (c *cleaner) end(name string) {
	if c.dropped != "" {
		if name == c.dropped {
			if c.depth--; c.depth == 0 {
				c.dropped = ""
			}
		}
		return
	}
	if as := written(name); as != "" && !emptyElements[as] {
		c.b.WriteString("</" + as + ">")
	}
}

// written returns the name with which an element is written, "" for one that is left out.
func written(name string) string {
	if name == "body" {
		return "div" // with its colours
	}
	if allowedElements[name] {
		return name
	}
	return ""
}

// attributes writes the allowed attributes of a tag.
func (c *cleaner) attributes(t html.Token) {
	for _, a := range t.Attr {
		switch {
		case a.Namespace != "":
		case a.Key == "style":
			if style := cleanStyle(a.Val); style != "" {
				c.attribute("style", style)
			}
		case a.Key == "href" && t.Data == "a":
			c.attribute("title", core.OnlyVisible(strings.TrimSpace(a.Val)))
		case a.Key == "title" && t.Data == "a":
			// The title is the address, and a sender must not choose another one.
		case a.Key == "src" && t.Data == "img":
			if isImage(a.Val) {
				c.attribute("src", a.Val)
			}
		case allowedAttributes[a.Key]:
			c.attribute(a.Key, a.Val)
		}
	}
}

func (c *cleaner) attribute(name, value string) {
	c.b.WriteString(" " + name + `="` + escape(value) + `"`)
}

// escape returns a text that neither ends an attribute in double quotes nor begins a tag.
func escape(text string) string {
	return html.EscapeString(strings.ReplaceAll(text, "\x00", "\uFFFD"))
}

// isImage reports whether an address is a raster image in a data: URL with base64. SVG is
// none: it is a document of its own.
func isImage(address string) bool {
	kind, data, found := strings.Cut(address, ";base64,")
	if !found || !rasterImages[strings.ToLower(kind)] {
		return false
	}
	for i := range len(data) {
		switch b := data[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9', b == '+', b == '/', b == '=', b == '\n', b == '\r', b == ' ', b == '\t':
		default:
			return false
		}
	}
	return true
}
