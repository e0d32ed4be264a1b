package smtpd

import (
	"io"

	"github.com/emersion/go-smtp"
)

// errNoInbox is the answer to every recipient: a bad destination mailbox (RFC
// 3463 section 3.2), for good, so that the sender does not queue the message.
var errNoInbox = &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "No such inbox here"}

// errNoRecipient answers message data that no recipient was accepted for.
var errNoRecipient = &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 5, 1}, Message: "No valid recipients"}

// session is one client's connection. It does not implement smtp.AuthSession, so
// AUTH is neither offered nor accepted.
type session struct{}

func newSession(*smtp.Conn) (smtp.Session, error) { return session{}, nil }

// Mail takes any sender: who may write to an inbox is the inbox's to say.
func (session) Mail(string, *smtp.MailOptions) error { return nil }

func (session) Rcpt(string, *smtp.RcptOptions) error { return errNoInbox }

// Data is out of reach without an accepted recipient. It refuses all the same.
func (session) Data(r io.Reader) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	return errNoRecipient
}

func (session) Reset()        {}
func (session) Logout() error { return nil }
