package safehtml

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"golang.org/x/net/html"
)

// Clean returns HTML without active content: what a browser shows inside of the body element.
// Scripts, forms, frames, links, remote images, style elements and comments are left out. A
// link keeps its address as the title, which browsers show on hover. An image that is neither
// in the HTML itself nor in the message is represented by its alternative text.
//
// embedded returns the content of the part of the message with a Content-ID, to which an image
// refers by a cid: URL (RFC 2392), or nil if there is none to show. nil in place of the function
// means that the message has no such parts. Clean calls it for each reference. The content
// becomes a data: URL if it is a raster image by its first bytes; Clean writes at most
// [MaxEmbedded] bytes of such content in all, repeated images included, and leaves out the rest.
//
// Clean accepts any bytes, and takes time and memory proportional to the input.
func Clean(source string, embedded func(contentID string) []byte) string {
	c := cleaner{embedded: embedded, left: MaxEmbedded}
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

// Shows reports whether a result of Clean has something to show: text, an image, or the
// alternative text of one. Text that a style hides counts too.
func Shows(cleaned string) bool {
	z := html.NewTokenizer(strings.NewReader(cleaned))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return false
		case html.TextToken:
			if isVisible(string(z.Text())) {
				return true
			}
		case html.StartTagToken:
			t := z.Token()
			if t.Data != "img" {
				continue
			}
			for _, a := range t.Attr {
				if a.Key == "src" || a.Key == "alt" && isVisible(a.Val) {
					return true
				}
			}
		}
	}
}

// isVisible reports whether a text has a character that is seen.
func isVisible(text string) bool { return strings.TrimSpace(core.OnlyVisible(text)) != "" }

// cleaner writes the allowed part of a document.
type cleaner struct {
	b strings.Builder
	// dropped is the name of the open element whose content is left out, "" for none, and
	// depth is the number of open elements with this name.
	dropped string
	depth   int
	// embedded returns the content of parts of the message, of which left bytes may be written.
	embedded func(contentID string) []byte
	left     int
}

// MaxEmbedded is how many bytes of images from other parts of the message are written, before
// they are encoded.
const MaxEmbedded = 1 << 20

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
			} else if id := contentID(a.Val); id != "" {
				c.image(id)
			}
		case allowedAttributes[a.Key]:
			c.attribute(a.Key, a.Val)
		}
	}
}

// image writes the source of an image that is another part of the message.
func (c *cleaner) image(id string) {
	if c.embedded == nil {
		return
	}
	content := c.embedded(id)
	kind := objects.RasterType(content)
	if kind == "" || len(content) > c.left {
		return
	}
	c.left -= len(content)
	c.attribute("src", "data:"+kind+";base64,"+base64.StdEncoding.EncodeToString(content))
}

// contentID returns the Content-ID to which a cid: URL refers, "" for any other address.
func contentID(address string) string {
	address = strings.TrimSpace(address)
	const scheme = "cid:"
	if len(address) < len(scheme) || !strings.EqualFold(address[:len(scheme)], scheme) {
		return ""
	}
	id := address[len(scheme):]
	if decoded, err := url.PathUnescape(id); err == nil { // otherwise the % is part of the id
		id = decoded
	}
	return strings.TrimSuffix(strings.TrimPrefix(id, "<"), ">")
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
