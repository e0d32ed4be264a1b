package generated

import (
	"errors"
	"fmt"
	"strings"
)

// notice is the first line of every generated Markdown file.
const notice = "<!-- Written by \"make generate\". Change the code it is taken from. -->\n\n"

// replaceBetween returns document with the text between two markers replaced by content.
// The markers have the given name and remain:
//
//	<!-- begin NAME -->
//	<!-- end NAME -->
//
// It fails if a marker is missing, or if the begin marker occurs again after the end
// marker.
func replaceBetween(document, name, content string) (string, error) {
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
	before, rest, found := strings.Cut(document, begin)
	if !found {
		return "", fmt.Errorf("there is no line %q", strings.TrimSpace(begin))
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("there is no line %q", end)
	}
	if strings.Contains(after, begin) {
		return "", errors.New("the markers of " + name + " occur twice")
	}
	return before + begin + content + end + after, nil
}

// table returns a Markdown table with a header row. It escapes the character | in cells,
// because Markdown takes it as the end of a cell.
func table(head []string, rows [][]string) string {
	var b strings.Builder
	writeRow(&b, head)
	b.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	for _, row := range rows {
		writeRow(&b, row)
	}
	return b.String()
}

// writeRow appends one row of a Markdown table to b. A cell must not contain a line break.
func writeRow(b *strings.Builder, cells []string) {
	for _, cell := range cells {
		b.WriteString("| " + strings.ReplaceAll(cell, "|", `\|`) + " ")
	}
	b.WriteString("|\n")
}

// code returns s between backticks, as Markdown code. s must not contain a backtick.
func code(s string) string { return "`" + s + "`" }

// codes returns each name between backticks, separated by spaces. It returns "" if there
// are no names.
func codes[T ~string](names []T) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = code(string(name))
	}
	return strings.Join(quoted, " ")
}

// firstSentence returns the text up to the first full stop that a space follows. An
// abbreviation such as "e.g. " would therefore end the sentence too early.
func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}
