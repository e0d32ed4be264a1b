package letters

import (
	"context"
	"fmt"
	"html"
	"strings"
	"time"
)

// Letter is a mail to one person, as text and as HTML that say the same.
type Letter struct{ To, Subject, Text, HTML string }

// Sender hands letters over to the operator's mail server. Send fails when the letter
// was not handed over, or when that is not known.
type Sender interface {
	Send(ctx context.Context, l Letter) error
}

// Event is when an account was changed, and from which network; From is "" when the
// network is not known.
type Event struct {
	At   time.Time
	From string
}

// String returns the event as letters say it.
func (e Event) String() string {
	text := e.At.UTC().Format("15:04 UTC on 2 January 2006")
	if e.From != "" {
		text += " from " + e.From
	}
	return text
}

// content is the words of a letter. No part of it comes from outside, except the
// network and the address.
type content struct {
	subject string
	before  []string // paragraphs
	link    string   // on a line of its own; "" for none
	after   []string
}

// to renders the content for an address.
func (c content) to(address string) Letter {
	end := fmt.Sprintf("This mail was sent to %s because an account has this address.", address)
	after := append(append([]string(nil), c.after...), end)
	var text, page strings.Builder
	page.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + html.EscapeString(c.subject) +
		"</title></head>\n<body style=\"font: 16px/1.5 sans-serif; max-width: 36em\">\n")
	for _, p := range c.before {
		writeParagraph(&text, &page, p)
	}
	if c.link != "" {
		text.WriteString(c.link + "\n\n")
		link := html.EscapeString(c.link)
		page.WriteString("<p><a href=\"" + link + "\">" + link + "</a></p>\n")
	}
	for _, p := range after {
		writeParagraph(&text, &page, p)
	}
	page.WriteString("</body></html>\n")
	return Letter{To: address, Subject: c.subject, Text: strings.TrimSuffix(text.String(), "\n"), HTML: page.String()}
}

func writeParagraph(text, page *strings.Builder, paragraph string) {
	text.WriteString(paragraph + "\n\n")
	page.WriteString("<p>" + html.EscapeString(paragraph) + "</p>\n")
}
