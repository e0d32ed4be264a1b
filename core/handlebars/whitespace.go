package handlebars

import "strings"

// The functions of this file are those of whitespace-control.js of handlebars.js, with the
// same names where possible. A tag that stands alone on its line is removed with the line.

// stripWhitespace shortens the texts of a template.
func stripWhitespace(root *program) { stripProgram(root, true) }

// edges says what whitespace control has to do around a node.
type edges struct {
	open, close bool
	// alone is set for comments and partials. The other two are set for blocks: white space
	// ends the line after the first tag, or begins the line before the last tag.
	alone, openAlone, closeAlone bool
}

func stripProgram(p *program, root bool) {
	for i, n := range p.body {
		if n.kind == nodeText {
			continue
		}
		e := edgesOf(n)
		before, after := isPrevWhitespace(p.body, i, root), isNextWhitespace(p.body, i, root)
		if e.close {
			omitRight(p.body, i+1, true)
		}
		if e.open {
			omitLeft(p.body, i-1, true)
		}
		if e.alone && before && after {
			omitRight(p.body, i+1, false)
			omitLeft(p.body, i-1, false)
		}
		if e.openAlone && before {
			omitRight(n.main.body, 0, false)
			omitLeft(p.body, i-1, false)
		}
		if e.closeAlone && after {
			omitRight(p.body, i+1, false)
			last := n.main
			if n.other != nil {
				last = n.other
			}
			omitLeft(last.body, len(last.body)-1, false)
		}
	}
}

func edgesOf(n *node) edges {
	switch n.kind {
	case nodeBlock:
		return stripBlock(n)
	case nodeEmpty:
		return edges{open: n.strip.open, close: n.strip.close, alone: true}
	}
	return edges{open: n.strip.open, close: n.strip.close}
}

// stripBlock strips the inside of a block.
func stripBlock(n *node) edges {
	stripProgram(n.main, false)
	var first, last *program
	if n.other != nil {
		stripProgram(n.other, false)
		first, last = n.other, n.other
		if n.other.chained {
			first, last = n.other.body[0].main, n.other.body[0].main
		}
	}
	e := edges{open: n.openStrip.open, close: n.closeStrip.close, openAlone: isNextWhitespace(n.main.body, -1, false)}
	if n.openStrip.close {
		omitRight(n.main.body, 0, true)
	}
	end := len(n.main.body)
	if first == nil {
		e.closeAlone = isPrevWhitespace(n.main.body, end, false)
		if n.closeStrip.open {
			omitLeft(n.main.body, end-1, true)
		}
		return e
	}
	e.closeAlone = isPrevWhitespace(first.body, len(first.body), false)
	if n.inverseStrip.open {
		omitLeft(n.main.body, end-1, true)
	}
	if n.inverseStrip.close {
		omitRight(first.body, 0, true)
	}
	if n.closeStrip.open {
		omitLeft(last.body, len(last.body)-1, true)
	}
	if isPrevWhitespace(n.main.body, end, false) && isNextWhitespace(first.body, -1, false) {
		omitLeft(n.main.body, end-1, false)
		omitRight(first.body, 0, false)
	}
	return e
}

// isPrevWhitespace reports whether only white space is between the beginning of the line
// and the node at i.
func isPrevWhitespace(body []*node, i int, root bool) bool {
	if i < 1 {
		return root
	}
	if body[i-1].kind != nodeText {
		return false
	}
	rest := strings.TrimRightFunc(body[i-1].original, isSpaceInLine)
	return strings.HasSuffix(rest, "\n") || rest == "" && i < 2 && root
}

// isNextWhitespace reports whether only white space is between the node at i and the end of
// the line.
func isNextWhitespace(body []*node, i int, root bool) bool {
	if i+1 >= len(body) {
		return root
	}
	if body[i+1].kind != nodeText {
		return false
	}
	rest := strings.TrimLeftFunc(body[i+1].original, isSpaceInLine)
	return strings.HasPrefix(rest, "\n") || rest == "" && i+2 >= len(body) && root
}

func isSpaceInLine(r rune) bool { return r != '\n' && isSpace(r) }

// omitRight removes white space at the beginning of the text at i: all of it if multiple is
// true, otherwise to the end of the line, once.
func omitRight(body []*node, i int, multiple bool) {
	if i >= len(body) || body[i].kind != nodeText || !multiple && body[i].rightStripped {
		return
	}
	n, before := body[i], len(body[i].text)
	if multiple {
		n.text = strings.TrimLeftFunc(n.text, isSpace)
	} else {
		n.text = strings.TrimLeft(n.text, " \t")
		n.text = strings.TrimPrefix(n.text, "\r")
		n.text = strings.TrimPrefix(n.text, "\n")
	}
	n.rightStripped = len(n.text) != before
	n.skipped += before - len(n.text)
}

// omitLeft removes white space at the end of the text at i: all of it if multiple is true,
// otherwise blanks and tabs, once.
func omitLeft(body []*node, i int, multiple bool) {
	if i < 0 || i >= len(body) || body[i].kind != nodeText || !multiple && body[i].leftStripped {
		return
	}
	n, before := body[i], len(body[i].text)
	if multiple {
		n.text = strings.TrimRightFunc(n.text, isSpace)
	} else {
		n.text = strings.TrimRight(n.text, " \t")
	}
	n.leftStripped = len(n.text) != before
}
