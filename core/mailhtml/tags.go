package mailhtml

import "strings"

// maxTag is the maximum length of a Handlebars tag in bytes, comments excluded. "{{" without
// an end within this length is text. The limit keeps scanning linear.
const maxTag = 1000

// tagFinder finds the ends of the Handlebars tags of a source.
type tagFinder struct {
	source string
	// unclosed is true if a comment without an end was found. All later ones have no end.
	unclosed bool
	// double and triple find the closing braces.
	double, triple closingBraces
}

// closingBraces finds the next closing braces of tags.
type closingBraces struct {
	// next is the offset of the first closing braces at or after from.
	from, next int
	known      bool
}

// end returns the offset behind the Handlebars tag that begins at offset i, or 0 if no tag
// begins there.
func (f *tagFinder) end(i int) int {
	rest := f.source[i:]
	if !strings.HasPrefix(rest, "{{") {
		return 0
	}
	if body := strings.TrimPrefix(rest[2:], "~"); strings.HasPrefix(body, "!--") {
		return f.commentEnd(i)
	}
	next := f.double.after(f.source, "}}", i)
	if strings.HasPrefix(rest, "{{{") {
		next = f.triple.after(f.source, "}}}", i)
	}
	if next > i+maxTag {
		return 0
	}
	return plainTagEnd(f.source, i)
}

// after returns the offset of the first braces at or after i, or one that is more than
// maxTag behind i if there are none.
func (c *closingBraces) after(source, braces string, i int) int {
	if !c.known || i < c.from || i > c.next {
		c.known, c.from, c.next = true, i, len(source)+maxTag+1
		if n := strings.Index(source[i:], braces); n >= 0 {
			c.next = i + n
		}
	}
	return c.next
}

// commentEnd returns the end of the comment {{!-- --}} that begins at i, or 0.
func (f *tagFinder) commentEnd(i int) int {
	if f.unclosed {
		return 0
	}
	for from := i + len("{{!"); ; {
		n := strings.Index(f.source[from:], "--")
		if n < 0 {
			f.unclosed = true
			return 0
		}
		from += n
		for _, close := range []string{"--}}", "--~}}"} {
			if strings.HasPrefix(f.source[from:], close) {
				return from + len(close)
			}
		}
		from++
	}
}

// plainTagEnd returns the end of a tag that begins at i and is no comment {{!-- --}}, or 0.
// Braces in string literals do not end it.
func plainTagEnd(source string, i int) int {
	open := 2
	if strings.HasPrefix(source[i:], "{{{") {
		open = 3
	}
	closing := "}}}"[:open]
	limit := min(len(source), i+maxTag)
	body := source[i+open : limit]
	if strings.HasPrefix(strings.TrimPrefix(body, "~"), "!") {
		return behind(body, closing, i+open)
	}
	for j := 0; j < len(body); j++ {
		switch c := body[j]; c {
		case '"', '\'':
			n := strings.IndexByte(body[j+1:], c)
			if n < 0 {
				return behind(body, closing, i+open)
			}
			j += n + 1
		case '}':
			if strings.HasPrefix(body[j:], closing) {
				return i + open + j + open
			}
		}
	}
	// A string literal may have hidden the end.
	return behind(body, closing, i+open)
}

// behind returns the offset behind closing in body, which begins at offset base, or 0.
func behind(body, closing string, base int) int {
	if n := strings.Index(body, closing); n >= 0 {
		return base + n + len(closing)
	}
	return 0
}

// tagRole is the role of a Handlebars tag for the blocks of a template.
type tagRole int

const (
	// value is a tag that prints a value: {{x}}, {{{x}}}, {{> x}}.
	value tagRole = iota
	// opening begins a block: {{#if x}}, {{^x}}.
	opening
	// middle is an {{else}} of a block, also {{else if x}} and {{^}}.
	middle
	// closing ends a block: {{/if}}.
	closing
	// remark is a comment.
	remark
)

// roleOf returns the role of a tag. tag is its whole source text.
func roleOf(tag string) tagRole {
	body := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(tag, "{{"), "~"))
	switch {
	case strings.HasPrefix(body, "!"):
		return remark
	case strings.HasPrefix(body, "#"):
		return opening
	case strings.HasPrefix(body, "/"):
		return closing
	case strings.HasPrefix(body, "^"):
		if strings.Trim(body, "^~} \t\r\n") == "" {
			return middle
		}
		return opening
	}
	if word := strings.TrimRight(body, "~} \t\r\n"); word == "else" || strings.HasPrefix(word, "else ") {
		return middle
	}
	return value
}

// isRaw reports whether a tag may print HTML: {{{x}}}, {{&x}} and {{> x}}.
func isRaw(tag string) bool {
	body := strings.TrimLeft(tag, "{~ ")
	return strings.HasPrefix(tag, "{{{") || strings.HasPrefix(tag, "{{~{") || strings.HasPrefix(body, "&") || strings.HasPrefix(body, ">")
}

// eachTag calls yield for each Handlebars tag of s with its offset. Escaped tags are left
// out.
func eachTag(s string, yield func(at int, tag string)) {
	tags := tagFinder{source: s}
	for i := strings.Index(s, "{{"); i >= 0 && i < len(s); i++ {
		end := tags.end(i)
		switch {
		case strings.HasPrefix(s[i:], "{{") && isEscaped(s[:i]):
			i = max(end, bracesEnd(s, i)) - 1
		case end > 0:
			yield(i, s[i:end])
			i = end - 1
		}
	}
}

// wholeBlocks returns the offsets of the tags of all blocks whose tags are all accepted, and
// whether each block tag of s belongs to such a block.
func wholeBlocks(s string, accept func(at int) bool) (offsets map[int]bool, all bool) {
	type block struct {
		tags []int
		ok   bool
	}
	var open []block
	offsets, all = map[int]bool{}, true
	eachTag(s, func(at int, tag string) {
		role := roleOf(tag)
		switch role {
		case value, remark:
			return
		case opening:
			open = append(open, block{ok: true})
		}
		if len(open) == 0 {
			all = false
			return
		}
		last := &open[len(open)-1]
		last.tags, last.ok = append(last.tags, at), last.ok && accept(at)
		if role != closing {
			return
		}
		for _, offset := range last.tags {
			offsets[offset] = last.ok
		}
		all = all && last.ok
		open = open[:len(open)-1]
	})
	return offsets, all && len(open) == 0
}
