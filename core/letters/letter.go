package letters

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"strings"
	"time"
)

// Letter is a mail to one user. Text and HTML have the same content.
type Letter struct{ To, Subject, Text, HTML string }

// Sender passes letters to the operator's mail server. Send fails if the server did not
// accept the letter, or if it is unknown whether it did.
type Sender interface {
	Send(ctx context.Context, l Letter) error
}

// Event is the time of a change to a user's account and the network of the client; From is
// "" if the network is unknown.
type Event struct {
	At   time.Time
	From string
}

// String returns the time of the event and, if it is known, the network, in the words of a
// letter.
func (e Event) String() string {
	text := e.At.UTC().Format("15:04 UTC on 2 January 2006")
	if e.From != "" {
		text += " from " + e.From
	}
	return text
}

// content is the subject, the paragraphs and the link or code of a letter. The text comes
// from Mailhelm, except two parts: the network of the client that caused the event in the
// letter, and the names in [SenderCode].
type content struct {
	subject string
	before  []string // paragraphs
	link    string   // written on a line of its own; "" for no link
	code    string   // like link
	after   []string
	// end says why the address receives the letter. "" means that an account has it.
	end string
}

// to returns the letter with this content for an address. It adds a sentence that says why
// the address receives it.
func (c content) to(address string) Letter {
	end := cmp.Or(c.end, fmt.Sprintf("This mail was sent to %s because an account has this address.", address))
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
	if c.code != "" {
		text.WriteString(c.code + "\n\n")
		page.WriteString("<p style=\"font-size: 1.5em; letter-spacing: .15em\"><strong>" + html.EscapeString(c.code) + "</strong></p>\n")
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
