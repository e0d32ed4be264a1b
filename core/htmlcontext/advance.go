package htmlcontext

import "strings"

// The faults of text, for the author of the template.
const (
	faultNeedsSpace = "a name in a tag may be longer than intended, depending on the data; put a space after the block"
	faultEquals     = "an attribute begins with `=`, or its name ends in a block; write the whole attribute inside of the block"
	faultDash       = "`>` may end the comment, depending on the data; put a space before it"
	faultScheme     = "the part of a link before `:` depends on the data; write the scheme of the link, such as `https:`, before the value"
)

// Advance moves the context over a text of the template. It returns the first fault and its
// offset in the text.
func (c *Context) Advance(text string) (at int, fault string) {
	for i := 0; i < len(text); i++ {
		if c.state == inText && !c.conditional {
			next := strings.IndexByte(text[i:], '<')
			if next < 0 {
				break
			}
			i += next
		}
		if found := c.step(text[i]); found != "" && fault == "" {
			at, fault = i, found
		}
	}
	return at, fault
}

// step moves the context over one byte.
func (c *Context) step(b byte) string {
	if c.conditional || c.state == inComment || c.state == inConditionalHead {
		if ended, fault := c.endOfComment(b); ended {
			*c = Context{}
			return fault
		}
	}
	return c.move(b)
}

// move is step without the search for the end of a comment.
func (c *Context) move(b byte) string {
	switch c.state {
	case inText:
		if b == '<' {
			c.state = afterLess
		}
	case afterLess, afterLessSlash, inMarkup:
		c.open(b)
	case inTagName, inTag, inAttributeName, afterAttributeName:
		return c.inside(b)
	case beforeValue, inValue:
		return c.value(b)
	case inComment:
		c.conditionalStart(b)
	case inConditionalHead:
		if b == '>' {
			c.conditional, c.state = true, inText
		}
	case inBogus:
		if b == '>' {
			c.state = inText
		}
	case inRaw:
		c.raw(b)
	}
	return ""
}

// endOfComment counts dashes. It reports whether the byte ends the comment, by "-->" or
// "--!>".
func (c *Context) endOfComment(b byte) (ended bool, fault string) {
	const enough = 2
	switch {
	case b == '>' && c.dashes >= enough:
		return true, ""
	case b == '>' && c.unsure:
		return true, faultDash
	case b == '-':
		c.dashes = min(c.dashes+1, enough)
		return false, ""
	case b == '!' && c.dashes == enough:
		c.dashes = enough + 1
		return false, ""
	case b == '!' && c.unsure:
		return false, ""
	}
	c.dashes, c.unsure = 0, false
	return false, ""
}

// open moves over a byte after "<", "</" or "<!".
func (c *Context) open(b byte) {
	switch {
	case c.state == inMarkup && b == '-' && !c.conditional:
		c.matched++
		if c.matched == 2 {
			// "<!-->" is a complete comment.
			c.state, c.matched, c.dashes = inComment, 0, 2
		}
	case c.state == inMarkup:
		c.state, c.matched = inBogus, 0
		c.move(b)
	case isLetter(b):
		c.endTag = c.state == afterLessSlash
		c.state = inTagName
		c.tag.add(b)
	case c.state == afterLess && b == '/':
		c.state = afterLessSlash
	case c.state == afterLess && b == '!':
		c.state = inMarkup
	case c.state == afterLess && b != '?':
		c.state = inText
		c.move(b)
	case b == '>':
		c.state = inText
	default:
		c.state = inBogus
	}
}

// inside moves over a byte of a tag that is not in the value of an attribute.
func (c *Context) inside(b byte) string {
	named := c.state == inAttributeName || c.state == afterAttributeName
	switch {
	case b == '>':
		c.endOfTag()
	case b == '/':
		c.state, c.name, c.needsSpace = inTag, word{}, false
	case isBlank(b):
		c.needsSpace = false
		if c.state == inTagName {
			c.state = inTag
		} else if c.state == inAttributeName {
			c.state = afterAttributeName
		}
	case b == '=' && named:
		c.content, c.name, c.state = contentOf(&c.name), word{}, beforeValue
	case c.state == inTagName:
		c.tag.add(b)
	case c.state == inAttributeName:
		c.name.add(b)
	default:
		return c.attribute(b)
	}
	return ""
}

// attribute begins the name of an attribute.
func (c *Context) attribute(b byte) string {
	unclear := c.needsSpace
	c.state, c.name, c.needsSpace = inAttributeName, word{}, false
	c.name.add(b)
	switch {
	case b == '=':
		return faultEquals
	case unclear:
		return faultNeedsSpace
	}
	return ""
}

// endOfTag moves to the content of the element.
func (c *Context) endOfTag() {
	content, raw := c.rawContent()
	next := Context{conditional: c.conditional, unsure: c.unsure, dashes: c.dashes}
	if raw {
		next.state, next.content, next.tag = inRaw, content, c.tag
	}
	*c = next
}

// value moves over a byte after the "=" of an attribute.
func (c *Context) value(b byte) string {
	if c.state == beforeValue {
		switch {
		case isBlank(b):
			return ""
		case b == '>':
			c.endOfTag()
			return ""
		}
		c.state = inValue
		if b == '"' || b == '\'' {
			c.quote = b
			return ""
		}
	}
	switch {
	case c.quote != 0 && b == c.quote, c.quote == 0 && isBlank(b):
		c.endOfValue()
	case c.quote == 0 && b == '>':
		c.endOfTag()
	case c.content == link:
		return c.linkStep(b)
	case c.content == style:
		c.css = c.css.step(b)
	}
	return ""
}

func (c *Context) endOfValue() {
	c.state, c.quote, c.content, c.link, c.css, c.name = inTag, 0, plain, 0, 0, word{}
}

// conditionalStart looks for "[if" at the beginning of a comment.
func (c *Context) conditionalStart(b byte) {
	const start = "[if"
	switch {
	case int(c.matched) < len(start) && lower(b) == start[c.matched]:
		c.matched++
		if int(c.matched) == len(start) {
			c.state, c.matched = inConditionalHead, 0
		}
	default:
		c.matched = uint8(len(start))
	}
}

// raw looks for the end tag of an element without tags inside.
func (c *Context) raw(b byte) {
	name := string(c.tag.text[:c.tag.length])
	end := "</" + name
	switch {
	case int(c.matched) == len(end) && (isBlank(b) || b == '/' || b == '>'):
		*c = Context{state: inTag, endTag: true, conditional: c.conditional, dashes: c.dashes, unsure: c.unsure, tag: c.tag}
		if b == '>' {
			c.endOfTag()
		}
	case int(c.matched) < len(end) && lower(b) == end[c.matched]:
		c.matched++
	case b == '<':
		c.matched = 1
	default:
		c.matched = 0
	}
	if c.state == inRaw && c.content == style {
		c.css = c.css.step(b)
	}
}
