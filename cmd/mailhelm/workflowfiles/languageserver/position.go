package languageserver

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// positionAt returns the position of a byte offset of a text.
func positionAt(text string, offset int) position {
	before := text[:min(offset, len(text))]
	start := strings.LastIndexByte(before, '\n') + 1
	units := 0
	for _, r := range before[start:] {
		units += utf16.RuneLen(r)
	}
	return position{Line: strings.Count(before, "\n"), Character: units}
}

// offsetAt returns the byte offset of a position. A position after the end of its line is
// the end of that line, and one after the text is the end of the text.
func offsetAt(text string, p position) int {
	start := 0
	for range p.Line {
		next := strings.IndexByte(text[start:], '\n')
		if next < 0 {
			return len(text)
		}
		start += next + 1
	}
	units := 0
	for at, r := range text[start:] {
		if units >= p.Character || r == '\n' {
			return start + at
		}
		units += utf16.RuneLen(r)
	}
	return len(text)
}

// offsetOf returns the byte offset of a line and column of package language: both count from
// 1, and columns count runes.
func offsetOf(text string, line, column int) int {
	at := offsetAt(text, position{Line: line - 1})
	for range column - 1 {
		if at >= len(text) || text[at] == '\n' {
			break
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// spanOf returns the range between two byte offsets.
func spanOf(text string, start, end int) span {
	return span{positionAt(text, start), positionAt(text, end)}
}
