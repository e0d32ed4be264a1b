package notices

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mail is a mail in the making: text and HTML with the same content. All texts are escaped in the
// HTML.
type mail struct {
	subject string
	text    strings.Builder
	html    strings.Builder
	// defanged is true if a text of outsiders had dots that were written as [.].
	defanged bool
}

// page returns the HTML of the mail.
func (m *mail) page() string {
	return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>" + html.EscapeString(m.subject) +
		"</title></head>\n<body style=\"font: 16px/1.5 sans-serif; max-width: 40em; margin: 1em auto; padding: 0 1em; color: #222\">\n" + m.html.String() + "</body></html>\n"
}

func (m *mail) heading(text string) {
	m.text.WriteString(strings.ToUpper(text) + "\n\n")
	m.html.WriteString("<h2 style=\"font-size: 1.1em; margin: 1.5em 0 .5em\">" + html.EscapeString(text) + "</h2>\n")
}

func (m *mail) paragraph(text string) {
	m.text.WriteString(text + "\n\n")
	m.html.WriteString("<p>" + html.EscapeString(text) + "</p>\n")
}

// link writes an address of the dashboard on a line of its own.
func (m *mail) link(address string) {
	m.text.WriteString(address + "\n\n")
	escaped := html.EscapeString(address)
	m.html.WriteString("<p><a href=\"" + escaped + "\">" + escaped + "</a></p>\n")
}

// item is an entry of a list.
type item struct{ name, text string }

// list writes items. The name of an item may be "".
func (m *mail) list(items []item) {
	m.html.WriteString("<ul style=\"padding-left: 1.2em\">\n")
	for _, i := range items {
		m.text.WriteString("* ")
		m.html.WriteString("<li style=\"margin-bottom: .5em\">")
		if i.name != "" {
			m.text.WriteString(i.name + ": ")
			m.html.WriteString("<strong><bdi>" + html.EscapeString(i.name) + "</bdi></strong>: ")
		}
		m.text.WriteString(i.text + "\n")
		m.html.WriteString(html.EscapeString(i.text) + "</li>\n")
	}
	m.text.WriteString("\n")
	m.html.WriteString("</ul>\n")
}

// table writes rows of a name and two values each. The first row has the names of the columns.
func (m *mail) table(rows [][3]string) {
	var widths [3]int
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	m.html.WriteString("<table style=\"border-collapse: collapse\">\n")
	for n, row := range rows {
		m.text.WriteString(fmt.Sprintf("%-*s  %*s  %*s\n", widths[0], row[0], widths[1], row[1], widths[2], row[2]))
		m.html.WriteString("<tr>")
		for i, cell := range row {
			name, align := "td", "right"
			if n == 0 || i == 0 {
				name = "th"
			}
			if i == 0 {
				align = "left"
			}
			m.html.WriteString(fmt.Sprintf("<%s style=\"padding: .2em .8em .2em 0; text-align: %s; border-bottom: 1px solid #ccc\">%s</%s>", name, align, html.EscapeString(cell), name))
		}
		m.html.WriteString("</tr>\n")
	}
	m.text.WriteString("\n")
	m.html.WriteString("</table>\n")
}

// number writes a number with commas between groups of three digits.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// quantity writes a number with its noun.
func quantity(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}
