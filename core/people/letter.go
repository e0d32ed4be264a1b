package people

import (
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
)

// Letter is a mail to one person, as text and as HTML that say the same.
type Letter struct{ To, Subject, Text, HTML string }

// content is what a letter says, before it has a form. Nothing in it was written by
// anybody but us, except addresses.
type content struct {
	subject string
	before  []string // paragraphs
	link    string   // on a line of its own; "" for none
	after   []string
}

func (c content) to(user access.User) Letter {
	end := fmt.Sprintf("This mail went to %s because there is an account with this address.", user.Email)
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
	return Letter{To: user.Email, Subject: c.subject, Text: strings.TrimSuffix(text.String(), "\n"), HTML: page.String()}
}

func writeParagraph(text, page *strings.Builder, paragraph string) {
	text.WriteString(paragraph + "\n\n")
	page.WriteString("<p>" + html.EscapeString(paragraph) + "</p>\n")
}

// resetLetter holds the link with which a person sets a new password.
func resetLetter(user access.User, link string, asked AskResetArgs) Letter {
	return content{
		subject: "Set a new password for Mailhelm",
		before: []string{
			fmt.Sprintf("A new password for Mailhelm was asked for at %s%s.", instant(asked.At), from(asked.From)),
			"Open this link to choose it. It works once, for 15 minutes:",
		},
		link: link,
		after: []string{
			"If you did not ask for it, you need not do anything: your password stays as it is. Do not pass the link on.",
		},
	}.to(user)
}

// noticeLetter tells a person what happened.
func noticeLetter(user access.User, securityURL string, n NoticeArgs) Letter {
	where := instant(n.At) + from(n.From)
	c := content{link: securityURL}
	switch n.Of {
	case passwordChanged:
		c.subject = "Your Mailhelm password was changed"
		c.before = []string{
			"Your password was changed at " + where + ". You were signed out in all other browsers.",
			"If this was not you, reset your password at once, then look at your second factors and at what you allowed applications to do:",
		}
	case passwordReset:
		c.subject = "Your Mailhelm password was reset"
		c.before = []string{
			"Your password was reset with a mailed link at " + where + ". You were signed out in all browsers. Your second factors are still in force.",
			"If this was not you, somebody can read your mail. Secure your mailbox first, then reset your password and look at your second factors and at what you allowed applications to do:",
		}
	case passwordSet:
		c.subject = "Your Mailhelm password was set by the operator"
		c.before = []string{
			"The operator of this server set a new password for you at " + where + ". You were signed out in all browsers.",
			"Sign in with the password that the operator gives you, and change it:",
		}
	case wrongPasswords:
		c.subject = "Many wrong passwords were tried for your Mailhelm account"
		c.before = []string{
			"Ten wrong passwords and more were tried for your account by " + where + ". None of them let anybody in.",
			"If this was you, you need not do anything. If it was not, choose a password that you use nowhere else, and set up a second factor:",
		}
		c.after = []string{"You can sign in meanwhile. You get this mail at most once a day."}
	}
	return c.to(user)
}

func instant(at time.Time) string { return at.UTC().Format("15:04 UTC on 2 January 2006") }

func from(network string) string {
	if network == "" {
		return ""
	}
	return " from " + network
}
