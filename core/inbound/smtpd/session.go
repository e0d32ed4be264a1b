package smtpd

import (
	"io"

	"github.com/emersion/go-smtp"
)

// errNoInbox is the reply to every recipient: bad destination mailbox (RFC 3463 section
// 3.2). Code 550 is permanent, so that the sender does not retry.
var errNoInbox = &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such inbox here"}

// errNoRecipient is the reply to message data without an accepted recipient.
var errNoRecipient = &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 5, 1}, Message: "No valid recipients"}

// session is one client's connection. It does not implement smtp.AuthSession, so AUTH
// is neither offered nor accepted.
type session struct{}

func newSession(*smtp.Conn) (smtp.Session, error) { return session{}, nil }

// Mail accepts any sender, because every recipient is refused.
func (session) Mail(string, *smtp.MailOptions) error { return nil }

func (session) Rcpt(string, *smtp.RcptOptions) error { return errNoInbox }

// Data discards the message and refuses it with errNoRecipient. The SMTP library calls it
// only after an accepted recipient. It is never called, because Rcpt accepts no recipient.
func (session) Data(r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	return errNoRecipient
}

func (session) Reset()        {}
func (session) Logout() error { return nil }
