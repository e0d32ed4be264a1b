package htmlcontext

// linkPart is a place in a link.
type linkPart uint8

const (
	// linkStart is the beginning of the link.
	linkStart linkPart = iota
	// linkScheme is after characters of the template that may be a scheme.
	linkScheme
	// linkOpen is after a value or after different arms of a block, where a scheme may still
	// be continued.
	linkOpen
	// linkPath is where no scheme can be: after a scheme, "/" or "#".
	linkPath
	// linkQuery is after "?" or "&", linkArgument after "=" of a query.
	linkQuery
	linkArgument
	// linkOther is in a link with a scheme that values cannot be part of.
	linkOther
)

// decided reports whether no scheme can begin or continue at the place.
func (p linkPart) decided() bool { return p >= linkPath }

// schemes are the schemes of links that a value may be part of.
var schemes = []string{"http", "https", "mailto", "tel", "sms", "cid"}

func (w *word) isScheme() bool {
	for _, scheme := range schemes {
		if w.is(scheme) {
			return true
		}
	}
	return false
}

// linkStep moves over a byte of a link.
func (c *Context) linkStep(b byte) string {
	switch c.link {
	case linkStart, linkScheme, linkOpen:
		return c.linkBegin(b)
	case linkPath:
		if b == '?' {
			c.link = linkQuery
		}
	case linkQuery, linkArgument:
		switch b {
		case '=':
			c.link = linkArgument
		case '&':
			c.link = linkQuery
		case '#':
			c.link = linkPath
		}
	case linkOther:
	}
	return ""
}

// linkBegin moves over a byte of the template where a scheme may begin or continue.
func (c *Context) linkBegin(b byte) string {
	if c.link == linkOpen {
		return c.linkContinue(b)
	}
	switch {
	case b <= ' ':
		return ""
	case b == ':' && c.name.isScheme():
		c.link = linkPath
	case b == ':' || b == '&':
		// A character reference might be part of a scheme.
		c.link = linkOther
	case b == '?':
		c.link = linkQuery
	case b == '/' || b == '#' || b == '\\':
		c.link = linkPath
	default:
		c.link = linkScheme
		c.name.add(b)
		return ""
	}
	c.name = word{}
	return ""
}

// linkContinue moves over a byte after a value with which the link begins. The name is "&"
// directly after an ampersand, which may begin a character reference.
func (c *Context) linkContinue(b byte) string {
	afterAmpersand := c.name.length > 0
	c.name = word{}
	switch {
	case b == ':':
		c.link = linkPath
		return faultScheme
	case b == '?':
		c.link = linkQuery
	case b == '=':
		c.link = linkArgument
	case b == '&':
		c.name.add(b)
	case b == '#' && afterAmpersand || b == ';' || b <= ' ' || isSchemeByte(b):
	default:
		c.link = linkPath
	}
	return ""
}

func isSchemeByte(b byte) bool {
	return isLetter(b) || '0' <= b && b <= '9' || b == '+' || b == '-' || b == '.'
}

// joinLinks returns the place after two arms that end at a and b.
func joinLinks(a, b linkPart) linkPart {
	switch {
	case a == b:
		return a
	case a == linkOther || b == linkOther:
		return linkOther
	case !a.decided() || !b.decided():
		return linkOpen
	}
	return linkQuery
}
