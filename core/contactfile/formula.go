package contactfile

import (
	"strings"
	"unicode/utf8"
)

// formulaStarts are the characters with which spreadsheet programs begin a formula, and
// those that they skip before one.
const formulaStarts = "=+-@\t\r\n＝＋－＠"

// EscapeFormula returns a text for a cell of a CSV file that people open in a spreadsheet
// program. Such a program computes a cell that begins with =, +, -, @, a tab or a line
// break, so texts of others could contain formulas. EscapeFormula puts an apostrophe before
// such a text. It also does so before a text that begins with apostrophes and then with one
// of these characters, so that [unescapeFormula] returns every text unchanged.
func EscapeFormula(text string) string {
	if startsFormula(strings.TrimLeft(text, "'")) {
		return "'" + text
	}
	return text
}

// unescapeFormula removes the apostrophe that EscapeFormula put before a text.
func unescapeFormula(text string) string {
	if rest, quoted := strings.CutPrefix(text, "'"); quoted && startsFormula(strings.TrimLeft(rest, "'")) {
		return rest
	}
	return text
}

// startsFormula reports whether the text begins with a character of formulaStarts. It skips
// blanks, as some spreadsheet programs do.
func startsFormula(text string) bool {
	first, size := utf8.DecodeRuneInString(strings.TrimLeft(text, " "))
	return size > 0 && strings.ContainsRune(formulaStarts, first)
}
