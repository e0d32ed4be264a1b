package generated

import (
	"errors"
	"fmt"
	"strings"
)

// notice is the first line of every generated Markdown file.
const notice = "<!-- Written by \"make generate\". Change the code it is taken from. -->\n\n"

// replaceBetween replaces the text of document between the two markers of the given name,
// and keeps the markers:
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

// table returns a Markdown table. It escapes the character | in cells, because that would
// end the cell.
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

// code returns s as Markdown code. s must not contain a backtick.
func code(s string) string { return "`" + s + "`" }

// codes returns the names as Markdown code, separated by spaces; "" if there are no names.
func codes[T ~string](names []T) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = code(string(name))
	}
	return strings.Join(quoted, " ")
}

// firstSentence returns the first sentence of an operation's purpose. It takes a full stop
// followed by a space as the end of the sentence, so an abbreviation in that sentence would
// cut it short.
func firstSentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}
