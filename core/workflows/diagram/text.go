package diagram

import (
	"strings"
	"unicode/utf8"
)

// wrap divides a text into lines that fit into a width, at most most. It cuts a text that
// needs more lines, with an ellipsis.
func wrap(text string, width int, bold bool, most int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		for _, piece := range pieces(word, width, bold) {
			longer := strings.TrimPrefix(line+" "+piece, " ")
			if line != "" && textWidth(longer, bold) > width {
				lines = append(lines, line)
				longer = piece
			}
			line = longer
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	if len(lines) <= most {
		return lines
	}
	last := []rune(lines[most-1])
	for len(last) > 0 && textWidth(string(last)+"…", bold) > width {
		last = last[:len(last)-1]
	}
	return append(lines[:most-1:most-1], strings.TrimRight(string(last), " ")+"…")
}

// pieces divides a word that is wider than a line.
func pieces(word string, width int, bold bool) []string {
	if textWidth(word, bold) <= width {
		return []string{word}
	}
	var all []string
	piece := ""
	for _, r := range word {
		if piece != "" && textWidth(piece+string(r), bold) > width {
			all = append(all, piece)
			piece = ""
		}
		piece += string(r)
	}
	return append(all, piece)
}

// textWidth returns about how wide a text is at 13 pixels, in the common fonts of screens.
// It is seldom too small.
func textWidth(text string, bold bool) int {
	hundredths := 0
	for _, r := range text {
		hundredths += charWidth(r)
	}
	if bold {
		hundredths = hundredths * 108 / 100
	}
	return (hundredths*13 + 99) / 100
}

// charWidth returns the width of a character, in hundredths of the size of the font.
func charWidth(r rune) int {
	switch {
	case r >= 0x1100:
		return 105
	case r >= utf8.RuneSelf:
		return 65
	case strings.ContainsRune("ijl.,:;'|!", r):
		return 29
	case strings.ContainsRune(`frt()[] "-/I`, r):
		return 38
	case strings.ContainsRune("mwMW@%", r):
		return 92
	case r >= 'A' && r <= 'Z':
		return 69
	}
	return 58
}

func widest(lines []string, bold bool) int {
	width := 0
	for _, line := range lines {
		width = max(width, textWidth(line, bold))
	}
	return width
}
