package extract

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound/htmltext"
)

// Bounds of the input and the result.
const (
	maxText   = 256 << 10 // bytes read of the text, and of the HTML
	maxCodes  = 20
	maxLinks  = 20
	maxURL    = 2048
	maxLabel  = 200 // bytes of the text of a link
	maxLine   = 2000
	maxLines  = 5000
	candidate = 200 // links that are looked at
)

// Message is the part of a mail that codes and links are found in. Each field may be empty.
type Message struct {
	Subject, Text, HTML string
}

// Extracted is what a mail has for its reader to use.
type Extracted struct {
	// Codes has each code once, the most certain first, at most 20.
	Codes []Code
	// Links has each address once, in the order of the mail, at most 20. In a mail with more
	// links, those without a known kind are left out first.
	Links []Link
}

// Code is a one-time code, such as "482913".
type Code struct {
	// Value is the code as it is typed: digits without the spaces or hyphens that divide
	// them, other codes as written, such as "WDJB-MJHT".
	Value string
	// Raw is the code as written in the mail, such as "482 913".
	Raw string
	// Label is the word that shows that it is a code, in lower case, such as "code".
	Label string
}

// Link is an http or https link.
type Link struct {
	URL string
	// Text is the text of the link on one line, at most 200 bytes, or "" for an address in
	// plain text.
	Text string
	Kind Kind
}

// Kind says what a link seems to be for.
type Kind string

// The kinds of links.
const (
	// Confirm confirms an address or activates an account.
	Confirm Kind = "confirm"
	// Reset sets a new password.
	Reset Kind = "reset"
	// SignIn signs in.
	SignIn Kind = "sign_in"
	// Unsubscribe ends a subscription.
	Unsubscribe Kind = "unsubscribe"
	// Other is every other link.
	Other Kind = "other"
)

// Extract finds the codes and links of a mail. It accepts any strings.
func Extract(m Message) Extracted {
	text := cutText(m.Text)
	document := htmltext.Convert(cutText(m.HTML))
	var f finder
	f.scan(m.Subject, subjectBonus)
	f.scan(text, 0)
	f.scan(document.Text, 0)
	return Extracted{Codes: f.best(), Links: links(text, document)}
}

// cutText returns the beginning of s, as valid UTF-8.
func cutText(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "")
}

// subjectBonus prefers a code in the subject.
const subjectBonus = 10

// finding is a code with how certain it is: higher is better.
type finding struct {
	Code
	score, order int
}

// finder collects codes from several texts.
type finder struct {
	all map[string]finding
}

// add adds a code, unless it was found with more certainty.
func (f *finder) add(c Code, score int) {
	if f.all == nil {
		f.all = map[string]finding{}
	}
	old, again := f.all[c.Value]
	switch {
	case !again && len(f.all) >= 10*maxCodes:
	case !again:
		f.all[c.Value] = finding{c, score, len(f.all)}
	case score > old.score:
		f.all[c.Value] = finding{c, score, old.order}
	}
}

// best returns the codes, the most certain first.
func (f *finder) best() []Code {
	var all []finding
	for _, found := range f.all {
		all = append(all, found)
	}
	slices.SortFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.order, b.order))
	})
	var codes []Code
	for _, found := range all[:min(len(all), maxCodes)] {
		codes = append(codes, found.Code)
	}
	return codes
}
