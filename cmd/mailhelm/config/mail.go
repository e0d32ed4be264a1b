package config

import (
	"errors"
	"fmt"
	"net"
	"net/mail"
	"net/url"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// MailServer is the operator's SMTP server for Mailhelm's own mail to people.
type MailServer struct {
	Address        string // host:port
	User, Password string // User and Password are both "" if mail is sent without authentication
	ImplicitTLS    bool
	// From is the sender address of every mail, optionally with a display name.
	From string
}

// The default ports of mail submission: with STARTTLS (RFC 6409) and with implicit TLS (RFC
// 8314). They apply to a URL without a port.
const (
	submissionPort  = "587"
	submissionsPort = "465"
)

// errServer is the error for a text that is not the URL of an SMTP server.
var errServer = errors.New("must be an SMTP server such as smtp://user:password@mail.example.com:587, or smtps:// for TLS from the beginning")

// parseMailServer parses the URL of an SMTP server. smtp:// requires STARTTLS, except from
// a server on this machine; smtps:// means implicit TLS. No error repeats the URL, because
// it may contain a password.
func parseMailServer(address, from string) (MailServer, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Hostname() == "" {
		return MailServer{}, errServer
	}
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return MailServer{}, errors.New("must end after the host and port: percent-encode characters such as / ? # @ in the password")
	}
	s := MailServer{ImplicitTLS: u.Scheme == "smtps", User: u.User.Username(), From: from}
	s.Password, _ = u.User.Password()
	if (s.User == "") != (s.Password == "") {
		return MailServer{}, errors.New("must hold a user and a password, or neither")
	}
	port := u.Port()
	if port == "" {
		port = submissionPort
		if s.ImplicitTLS {
			port = submissionsPort
		}
	}
	s.Address = net.JoinHostPort(u.Hostname(), port)
	return s, nil
}

// checkSender returns an error unless the sender from is one email address, optionally with
// a name. It refuses control characters, which could add header lines to a mail.
func checkSender(from string) error {
	a, err := mail.ParseAddress(from)
	if err != nil || !core.IsEmail(a.Address) || strings.ContainsFunc(from, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("%q is not an address: give one such as mailhelm@example.com or \"Mailhelm <mailhelm@example.com>\"", from)
	}
	return nil
}

// SystemMail returns the mail server of SystemSMTP with the sender address SystemFrom, or
// false if both are empty. It fails if only one of the two is set. No error repeats the
// URL, which may contain a password.
func (c Config) SystemMail() (MailServer, bool, error) {
	switch {
	case c.SystemSMTP == "" && c.SystemFrom == "":
		return MailServer{}, false, nil
	case c.SystemSMTP == "":
		return MailServer{}, false, fmt.Errorf("--system-from is set without --system-smtp: name the server too")
	case c.SystemFrom == "":
		return MailServer{}, false, fmt.Errorf("--system-smtp is set without --system-from: name the sender too, such as mailhelm@example.com")
	}
	server, err := parseMailServer(c.SystemSMTP, c.SystemFrom)
	if err != nil {
		return MailServer{}, false, fmt.Errorf("--system-smtp: %w", err)
	}
	if err := checkSender(c.SystemFrom); err != nil {
		return MailServer{}, false, fmt.Errorf("--system-from: %w", err)
	}
	return server, true, nil
}
