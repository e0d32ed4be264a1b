package mailhtml

import (
	"fmt"
	"html"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// headers checks the title and the language of the document.
func (l *linter) headers() {
	titled, language := false, false
	for i, t := range l.tokens {
		if t.kind != startTag {
			continue
		}
		switch t.name {
		case "title":
			titled = titled || i+1 < len(l.tokens) && l.tokens[i+1].kind == text && strings.TrimSpace(l.raw(l.tokens[i+1])) != ""
		case "html", "body", "div", "table":
			if lang, ok := l.value(t, "lang"); ok && lang != "" {
				language = true
			}
		}
	}
	// WCAG 2.2, success criterion 2.4.2. Some mail programs show the title, for example "view
	// in browser" pages.
	if !titled {
		l.whole(CodeTitleMissing, Notice, "The HTML has no title. Add <title> with a short description to its head.")
	}
	// WCAG 2.2, success criterion 3.1.1.
	if !language {
		l.whole(CodeLanguageMissing, Notice, `The HTML does not say its language, which screen readers need. Write it into the first tag: <html lang="en">.`)
	}
}

// syntax reports the rules with invalid CSS.
func (l *linter) syntax(sheets []sheet) {
	for _, s := range sheets {
		for _, r := range s.rules {
			if r.fault != "" {
				l.report(r.start, CodeInvalidCSS, Warning, "The style rule is invalid, and mail programs may ignore it: "+r.fault+". Correct or remove it.")
			}
		}
	}
}

// tags checks links and images.
func (l *linter) tags() {
	ids := l.ids()
	for _, t := range l.tokens {
		if t.kind != startTag {
			continue
		}
		switch t.name {
		case "a", "area":
			l.link(t, ids)
		case "img":
			l.image(t)
		}
	}
	l.amountOfText()
}

// ids returns the names to which links within the mail may lead.
func (l *linter) ids() map[string]bool {
	ids := map[string]bool{}
	for _, e := range l.elements {
		for _, name := range []string{"id", "name"} {
			if v, ok := l.value(l.tokens[e.tag], name); ok {
				ids[v] = true
			}
		}
	}
	return ids
}

// address returns the value of an attribute as browsers read an address, and whether the
// token has the attribute.
func (l *linter) address(t token, name string) (string, bool) {
	raw, ok := l.value(t, name)
	return strings.Map(dropControls, strings.TrimSpace(html.UnescapeString(raw))), ok
}

// link checks the address of a link.
func (l *linter) link(t token, ids map[string]bool) {
	href, ok := l.address(t, "href")
	if !ok {
		return
	}
	lower := lowerASCII(href)
	switch {
	case strings.HasPrefix(lower, "javascript:"), strings.HasPrefix(lower, "vbscript:"):
		l.report(t.start, CodeLinkWithoutTarget, Error, "The link runs a script, which mail programs remove. Link to a page with https.")
	case href == "", href == "#", strings.HasPrefix(href, "#") && !strings.Contains(href, "{{") && !ids[href[1:]]:
		l.report(t.start, CodeLinkWithoutTarget, Warning, "The link "+quoted(href)+" leads nowhere. Add its address, or remove the link.")
	default:
		l.https(t, "link", href)
	}
}

// https reports an address that is not encrypted. Browsers mark such pages, and Chrome asks
// before it opens them (https://blog.chromium.org/2023/08/towards-https-by-default.html).
func (l *linter) https(t token, what, address string) {
	switch lower := lowerASCII(address); {
	case strings.HasPrefix(lower, "http:"):
		l.report(t.start, CodeLinkWithoutHTTPS, Warning, "The "+what+" "+quoted(address)+" is not encrypted. Write https:// in place of http://.")
	case strings.HasPrefix(lower, "//"):
		l.report(t.start, CodeLinkWithoutHTTPS, Warning, "The "+what+" "+quoted(address)+" has no scheme, and a mail has none to inherit. Write https: before it.")
	}
}

// image checks an image.
func (l *linter) image(t token) {
	if src, ok := l.address(t, "src"); ok {
		l.https(t, "image", src)
	}
	// WCAG 2.2, success criterion 1.1.1. An empty text is right for decoration.
	if _, ok := l.value(t, "alt"); !ok && !t.loose {
		l.report(t.start, CodeImageWithoutAlt, Warning, `The image has no alternative text, and many mail programs show no images at first. `+
			`Describe it in alt, or write alt="" if it is decoration.`)
	}
}

// wordBytes is the number of bytes of text below which SpamAssassin counts a mail with
// images as having little text (its rule HTML_IMAGE_ONLY_04).
const wordBytes = 400

// smallImage is the width or height in pixels up to which an image counts as a logo, icon or
// tracking image.
const smallImage = 200

// amountOfText checks that a mail with images has text, too.
func (l *linter) amountOfText() {
	images, bytes := 0, 0
	for _, t := range l.tokens {
		switch {
		case t.element == nil || t.element.hidden:
		case t.kind == startTag && t.name == "img" && !l.isSmall(t):
			images++
		case t.kind == text:
			bytes += len(strings.Join(strings.Fields(l.raw(t)), " "))
		case t.kind == handlebars && roleOf(l.raw(t)) == value:
			if bytes += len("a value"); isRaw(l.raw(t)) {
				bytes += wordBytes // it may be a whole text
			}
		}
	}
	if images > 0 && bytes < wordBytes {
		l.whole(CodeMostlyImages, Warning, fmt.Sprintf("The mail has %d bytes of text beside its images. Spam filters distrust less than %d, "+
			"and readers who block images see nothing. Write the message as text.", bytes, wordBytes))
	}
}

// isSmall reports whether an attribute says that the image is small.
func (l *linter) isSmall(t token) bool {
	for _, name := range []string{"width", "height"} {
		raw, _ := l.value(t, name)
		n := 0
		if _, err := fmt.Sscanf(raw, "%d", &n); err == nil && n <= smallImage && !strings.Contains(raw, "%") {
			return true
		}
	}
	return false
}

// contrasts checks that text can be read on its background, once for each pair of colours.
func (l *linter) contrasts() {
	type pair struct {
		text, background colour
		required         float64
	}
	seen := map[pair]bool{}
	paints := l.paintAll()
	for _, t := range l.tokens {
		if t.kind != text && t.kind != handlebars || t.element.hidden || !l.isReadable(t) {
			continue
		}
		p := paints[t.element]
		key := pair{p.text, p.background, p.requiredContrast()}
		if !p.textKnown || !p.backgroundKnown || seen[key] {
			continue
		}
		seen[key] = true
		if ratio := contrast(p.text, p.background); ratio < key.required {
			l.report(l.firstWord(t), CodeLowContrast, Warning, fmt.Sprintf("The contrast of the text colour %s on %s is %.1f to 1. Use colours with at least %g to 1.",
				p.text, p.background, float64(int(ratio*10))/10, key.required))
		}
	}
}

// firstWord returns the byte offset of the first character of a token that is not white
// space.
func (l *linter) firstWord(t token) int {
	return t.end - len(strings.TrimLeft(l.raw(t), " \t\r\n\f"))
}

// isReadable reports whether the token prints text.
func (l *linter) isReadable(t token) bool {
	if t.kind == handlebars {
		return roleOf(l.raw(t)) == value
	}
	return strings.Trim(html.UnescapeString(l.raw(t)), " \t\r\n\f\u00a0\u200b\u200c\u200d\u034f\u00ad") != ""
}

// reservedNames has the variables that every mail has.
var reservedNames = []string{unsubscribeName, "preferences_url", "email"}

// variables checks that the variables are known.
func (l *linter) variables() {
	if l.input.Known == nil {
		return
	}
	names := append(append([]string{}, l.input.Known...), reservedNames...)
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for _, name := range l.input.Variables {
		root, _, _ := strings.Cut(name, ".")
		if known[name] || known[root] || name == "" {
			continue
		}
		known[name] = true // report it once
		if l.counts[CodeUnknownVariable] >= maxFindings {
			return
		}
		message := "There is no attribute " + quoted(name) + ", so the mail shows nothing in its place. "
		if nearest := core.NearestWord(name, names); nearest != "" {
			message += "Did you mean " + quoted(nearest) + "?"
		} else {
			message += "Create the attribute, or remove the variable."
		}
		at := nameOffset(l.source, name, func(tag string) bool { return roleOf(tag) != remark })
		l.report(at, CodeUnknownVariable, Warning, message)
	}
}
