package simulator

import (
	"errors"
	"net/mail"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	maxRecipients   = 50
	maxMessageBytes = 40 << 20
	maxHeaders      = 15
	maxHeaderName   = 126
	maxTagText      = 256
)

// The allowed characters of tags and header names. The lengths are checked separately,
// because regular expressions with large repeat counts take half a megabyte of memory.
var (
	tagText    = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	headerName = regexp.MustCompile(`^[!-9;-~]+$`) // RFC 5322 section 2.2
)

func checkEnvelope(e sending.Envelope) error {
	for _, address := range e.ReplyTo {
		if _, err := mailbox(address); err != nil {
			return err
		}
	}
	if err := checkTags(e.Tags); err != nil {
		return err
	}
	return checkHeaders(e.Headers)
}

func checkHeaders(headers []sending.Header) error {
	if len(headers) > maxHeaders {
		return invalid("more headers than 15")
	}
	for _, h := range headers {
		if len(h.Name) > maxHeaderName || !headerName.MatchString(h.Name) || !isLine(h.Value) {
			return invalid("a malformed header")
		}
	}
	return nil
}

func checkTags(tags map[string]string) error {
	for name, value := range tags {
		if !isTagText(name) || !isTagText(value) {
			return invalid("a tag has other characters than A-Z, a-z, 0-9, _ and -, or more than 256")
		}
	}
	return nil
}

func isTagText(text string) bool { return len(text) <= maxTagText && tagText.MatchString(text) }

// mailbox returns the email address in text, which may also have a display name. It fails
// with Invalid if text is malformed.
func mailbox(text string) (string, error) {
	parsed, err := mail.ParseAddress(text)
	if err != nil || !isLine(text) || !sending.IsAddress(parsed.Address) {
		return "", invalid("malformed address")
	}
	return parsed.Address, nil
}

// isLine reports whether text is valid UTF-8 without line ends and NUL, so that it may be
// part of a header field.
func isLine(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsAny(text, "\r\n\x00")
}

// checkMessage validates the recipients, the content and the tags of one message. In the
// sandbox, it fails with Rejected if a recipient is not verified.
func (d *dispatch) checkMessage(m sending.Message) error {
	recipients := recipientsOf(m)
	switch {
	case len(recipients) == 0 || len(recipients) > maxRecipients:
		return invalid("a message has 1 to 50 recipients")
	case len(m.Content.Subject)+len(m.Content.Text)+len(m.Content.HTML) > maxMessageBytes:
		return invalid("a message has at most 40 MB")
	case !isLine(m.Content.Subject):
		return invalid("a malformed subject")
	case m.Content.Template == "" && m.Content.Text == "" && m.Content.HTML == "":
		return invalid("a message has a text, an HTML part or a template")
	}
	for i, recipient := range recipients {
		var err error
		if recipients[i], err = mailbox(recipient); err != nil {
			return err
		}
	}
	if err := checkTags(m.Tags); err != nil || !d.account.Sandbox {
		return err
	}
	for _, recipient := range recipients {
		if !isMailboxSimulator(recipient) && d.verifiedIdentity(recipient) == "" {
			return rejectedError(errors.New("simulator: in the sandbox, a recipient is not verified"))
		}
	}
	return nil
}
