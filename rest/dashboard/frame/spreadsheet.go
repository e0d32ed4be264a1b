package frame

import "strings"

// SpreadsheetText returns a text for a cell of a CSV file that people open in a spreadsheet
// program. Such a program computes a cell that begins with =, +, -, @, a tab or a line
// break, so texts of others could contain formulas. SpreadsheetText puts an apostrophe
// before such a text.
func SpreadsheetText(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n＝＋－＠", []rune(text[:min(len(text), 4)])[0]) {
		return "'" + text
	}
	return text
}
