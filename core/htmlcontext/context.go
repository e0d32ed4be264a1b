package htmlcontext

// state is a place in HTML, after the states of the tokenizer in the HTML standard.
type state uint8

const (
	inText state = iota
	// afterLess follows "<".
	afterLess
	// afterLessSlash follows "</".
	afterLessSlash
	inTagName
	// inTag is between attributes.
	inTag
	inAttributeName
	afterAttributeName
	// beforeValue follows the "=" of an attribute.
	beforeValue
	inValue
	// inMarkup follows "<!".
	inMarkup
	inComment
	// inConditionalHead is in the condition of <!--[if mso]>.
	inConditionalHead
	// inBogus is a declaration such as <!DOCTYPE html>, which ends with ">".
	inBogus
	// inRaw is the content of an element without tags inside, see element.
	inRaw
)

// content says what language a value of an attribute or the content of an element is.
type content uint8

const (
	plain content = iota
	link
	style
	script
)

// Context is a place in HTML, with what is needed to escape a value there. Contexts are
// compared by ==, so fields that have no meaning in a state are zero.
type Context struct {
	state   state
	content content
	link    linkPart
	css     cssPart
	// quote is the quote around the value of an attribute, or 0.
	quote byte
	// endTag is true for </name>.
	endTag bool
	// needsSpace means that a name directly before may have ended, depending on the data. A
	// space, "/" or ">" must follow.
	needsSpace bool
	// conditional is true inside of <!--[if mso]> ... <![endif]-->. The state is that of the
	// HTML inside.
	conditional bool
	// dashes counts the dashes before, of the "--" that ends a comment. unsure means that a
	// value before them may have been empty, so there may be more.
	dashes uint8
	unsure bool
	// matched counts the characters of an end tag, "--" or "[if" that were read.
	matched uint8
	tag     word
	// name is the name of the attribute, then the scheme of its link.
	name word
}

// word is the beginning of a name in lower case.
type word struct {
	text [12]byte
	// length is more than len(text) if the name is longer.
	length uint8
}

func (w *word) add(b byte) {
	if int(w.length) < len(w.text) {
		w.text[w.length] = lower(b)
	}
	w.length = min(w.length+1, uint8(len(w.text))+1)
}

func (w *word) is(s string) bool {
	return int(w.length) == len(s) && int(w.length) <= len(w.text) && string(w.text[:w.length]) == s
}

// afterColon returns the name without the prefix of an XML namespace, such as href for
// xlink:href. A longer name than fits has none.
func (w *word) afterColon() string {
	text := string(w.text[:min(int(w.length), len(w.text))])
	if int(w.length) > len(w.text) {
		return ""
	}
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] == ':' {
			return text[i+1:]
		}
	}
	return text
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + ('a' - 'A')
	}
	return b
}

func isLetter(b byte) bool { return 'a' <= lower(b) && lower(b) <= 'z' }

// isBlank reports whether HTML treats the byte as white space.
func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == '\f' }

// The attributes whose values are links.
var linkAttributes = map[string]bool{
	"action": true, "background": true, "cite": true, "codebase": true, "data": true, "dynsrc": true,
	"formaction": true, "href": true, "icon": true, "longdesc": true, "lowsrc": true, "manifest": true,
	"ping": true, "poster": true, "profile": true, "src": true, "srcset": true, "usemap": true,
}

// contentOf returns the language of an attribute's value.
func contentOf(name *word) content {
	local := name.afterColon()
	switch {
	case name.length > 2 && name.text[0] == 'o' && name.text[1] == 'n', local == "srcdoc":
		return script
	case local == "style":
		return style
	case linkAttributes[local]:
		return link
	}
	return plain
}

// rawElements are the elements whose content has no tags.
var rawElements = map[string]content{"script": script, "style": style, "textarea": plain, "title": plain}

// rawContent returns the language of the content of the element that the current tag
// begins.
func (c *Context) rawContent() (content, bool) {
	if c.endTag || int(c.tag.length) > len(c.tag.text) {
		return plain, false
	}
	found, raw := rawElements[string(c.tag.text[:c.tag.length])]
	return found, raw
}
