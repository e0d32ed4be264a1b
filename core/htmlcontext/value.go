package htmlcontext

// Value moves the context over a value. It returns how the value is escaped, or why there
// cannot be a value. raw is true for {{{x}}}.
func (c *Context) Value(raw bool) (Escape, string) {
	if fault := c.refuseValue(); fault != "" {
		return EscapeNone, fault
	}
	begins := c.state == beforeValue
	if begins {
		c.state = inValue
	}
	found := c.escapeOf(raw)
	if c.state == inValue && c.quote == 0 {
		switch {
		case c.content == style:
			return EscapeNone, "a value in a style attribute needs quotes around the attribute"
		case begins:
			found |= EscapeNotEmpty
		}
	}
	if c.state == inValue && c.content == link && !c.link.decided() {
		c.link, c.name = linkOpen, word{}
	}
	c.css = 0
	if c.conditional || c.state == inComment || c.state == inConditionalHead {
		c.dashes, c.unsure = 0, true
	}
	return found, ""
}

// refuseValue returns why there cannot be a value, or "".
func (c *Context) refuseValue() string {
	switch c.state {
	case afterLess, afterLessSlash, inTagName, inMarkup:
		return "a value cannot be the name of a tag"
	case inTag, inAttributeName, afterAttributeName:
		return "a value cannot be in a tag, except in the value of an attribute: write name=\"{{value}}\""
	case inRaw:
		if c.matched > 0 {
			return "a value cannot be part of an end tag"
		}
		if c.content == script {
			return "a value cannot be in a script"
		}
	case beforeValue, inValue:
		if c.content == script {
			return "a value cannot be in an event handler or in srcdoc, which contain scripts"
		}
		if c.content == link && c.link == linkOther {
			return "a value cannot be in a link with this scheme; expected http, https, mailto, tel, sms or cid"
		}
	}
	return ""
}

// escapeOf returns how a value is escaped at the place.
func (c *Context) escapeOf(raw bool) Escape {
	inAttribute := c.state == inValue
	switch {
	case c.content == link && inAttribute:
		return c.escapeOfLink(raw)
	case raw:
		return EscapeNone
	case c.content == style && (inAttribute || c.state == inRaw):
		if c.css >= cssURL {
			return EscapeStyleURL
		}
		return EscapeStyle
	case inAttribute && c.quote == 0:
		return EscapeUnquoted
	}
	return EscapeText
}

func (c *Context) escapeOfLink(raw bool) Escape {
	switch {
	case raw && !c.link.decided():
		return EscapeRawLink
	case raw:
		return EscapeNone
	case c.link == linkStart:
		return EscapeLinkStart
	case !c.link.decided():
		return EscapeLinkOpen
	case c.link == linkArgument:
		return EscapeArgument
	}
	return EscapeLink
}

// Join returns the place after two arms that end at a and b, or false if they end in
// different places. The result is the one at which less is allowed.
func Join(a, b Context) (Context, bool) {
	if a == b {
		return a, true
	}
	if a.dashes != b.dashes || a.unsure != b.unsure {
		a.dashes, b.dashes, a.unsure, b.unsure = 0, 0, true, true
	}
	if a.state == inValue && b.state == inValue && a.content == b.content {
		if a.link != b.link || a.name != b.name {
			part := joinLinks(a.link, b.link)
			if a.link == b.link && !a.link.decided() {
				part = linkOpen // the schemes differ
			}
			a.link, b.link, a.name, b.name = part, part, word{}, word{}
		}
		a.css = max(a.css, b.css)
		b.css = a.css
	}
	if a.isInsideTag() && b.isInsideTag() {
		a.toAttributes()
		b.toAttributes()
		a.needsSpace = a.needsSpace || b.needsSpace
		b.needsSpace = a.needsSpace
	}
	return a, a == b
}

func (c *Context) isInsideTag() bool { return c.state >= inTagName && c.state <= afterAttributeName }

// toAttributes moves a place inside of a tag to the place between attributes. If a name may
// go on there, it must not.
func (c *Context) toAttributes() {
	if c.state == inTagName || c.state == inAttributeName {
		c.needsSpace = true
	}
	c.state, c.name = inTag, word{}
}

// BeforeLoop changes a place to one from which every repetition of a loop may begin.
func (c *Context) BeforeLoop() {
	switch {
	case c.isInsideTag() && c.state != inTag:
		c.toAttributes()
	case c.state == inValue && c.content == link && !c.link.decided():
		c.link, c.name = linkOpen, word{}
	}
	if c.conditional || c.state == inComment || c.state == inConditionalHead {
		c.dashes, c.unsure = 0, true
	}
}

// Repeats reports whether a loop that began at c may begin again at end.
func (c Context) Repeats(end Context) bool {
	joined, ok := Join(c, end)
	if c.state == inValue && c.content == link && c.link.decided() && joined.link.decided() {
		joined.link, joined.name = c.link, c.name
	}
	return ok && joined == c
}

// Words says where in the HTML a place is.
func (c Context) Words() string {
	switch c.state {
	case inText:
		return "in text"
	case afterLess, afterLessSlash, inTagName, inTag, inAttributeName, afterAttributeName:
		return "in a tag"
	case beforeValue, inValue:
		return "in the value of an attribute"
	case inMarkup, inComment, inConditionalHead, inBogus:
		return "in a comment or declaration"
	case inRaw:
		return "in " + string(c.tag.text[:c.tag.length])
	}
	return ""
}
