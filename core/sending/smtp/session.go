package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/smtp"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/mailhelm/mailhelm/core/sending"
)

// login identifies the server and the user of an open connection. A message may use the
// connection only if its own login is equal. mayReachPrivate is part of the login, so that
// a customer's message never uses an operator's connection to a private address.
type login struct {
	address, user, password string
	mayReachPrivate         bool
	implicitTLS             bool
}

func loginOf(s Server) login {
	c := s.Connection
	return login{c.Endpoint, c.AccessKeyID, c.Secret, c.MayReachPrivate, s.ImplicitTLS}
}

// session is one authenticated connection to an SMTP server. uses is the number of messages
// that it sent.
type session struct {
	login  login
	client *smtp.Client
	conn   net.Conn
	uses   int
	expiry *time.Timer // closes an idle session
}

func (s *session) close() { _ = s.conn.Close() } // no command is in progress

// maxAnswers is the maximum number of bytes that a server may send over one connection,
// including its certificates. Without a limit, an endless reply would fill the memory.
const maxAnswers = 256 << 10

var errTalkative = errors.New("the server's answer is too long")

type boundedConn struct {
	net.Conn
	remaining int
}

func (c *boundedConn) Read(p []byte) (int, error) {
	if c.remaining <= 0 {
		return 0, errTalkative
	}
	n, err := c.Conn.Read(p[:min(len(p), c.remaining)])
	c.remaining -= n
	return n, err
}

// open connects to the server, starts TLS and authenticates. It fails if ctx ends. The
// parameter caller is the context without the deadline that this package adds; see
// failureAt.
func (s *SMTP) open(ctx, caller context.Context, to login) (*session, *sending.Failure) {
	where, err := endpointOf(to.address)
	if err != nil {
		return nil, newFailure(sending.Refused, err)
	}
	where.implicitTLS = where.implicitTLS || to.implicitTLS
	raw, err := s.cfg.Dial(ctx, "tcp", where.address)
	if err != nil {
		return nil, failureAt(caller, connecting, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	defer stop()
	client, err := s.greet(&boundedConn{raw, maxAnswers}, where)
	if err != nil {
		_ = raw.Close()
		return nil, failureAt(caller, greeting, err)
	}
	if err := signIn(client, to); err != nil {
		_ = raw.Close()
		return nil, failureAt(caller, signingIn, err)
	}
	return &session{login: to, client: client, conn: raw}, nil
}

var errNoTLS = errors.New("the server does not support STARTTLS")

// greet sends the SMTP greeting. The connection begins with TLS if where.implicitTLS is
// true. Otherwise greet starts TLS (STARTTLS), except for a server on this machine, to
// which the connection is then unencrypted. It has no deadline: the function open closes
// the connection when its context ends.
func (s *SMTP) greet(conn net.Conn, where endpoint) (*smtp.Client, error) {
	config := &tls.Config{ServerName: where.host, RootCAs: s.cfg.Roots, MinVersion: tls.VersionTLS12}
	if where.implicitTLS {
		conn = tls.Client(conn, config)
	}
	client, err := smtp.NewClient(conn, where.host)
	if err != nil {
		return nil, err
	}
	if err := client.Hello(s.cfg.Hostname); err != nil || where.implicitTLS || where.loopback && isLoopback(conn.RemoteAddr()) {
		return client, err
	}
	// StartTLS would ask a server that has not offered it.
	if ok, _ := client.Extension("STARTTLS"); !ok {
		return nil, errNoTLS
	}
	return client, client.StartTLS(config)
}

func isLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

var (
	errCredentials = errors.New("the user name or the password has control characters")
	errMechanisms  = errors.New("the server supports neither PLAIN nor LOGIN")
)

func signIn(client *smtp.Client, as login) error {
	if as.user == "" {
		return nil
	}
	if hasControl(as.user) || hasControl(as.password) {
		return errCredentials
	}
	_, offered := client.Extension("AUTH")
	mechanisms := strings.Fields(strings.ToUpper(offered))
	switch {
	case slices.Contains(mechanisms, sasl.Plain):
		return client.Auth(mechanism{sasl.NewPlainClient("", as.user, as.password)})
	case slices.Contains(mechanisms, sasl.Login):
		return client.Auth(mechanism{sasl.NewLoginClient(as.user, as.password)})
	}
	return errMechanisms
}

// mechanism is a SASL mechanism as an [smtp.Auth]. It sends the password without asking
// whether the connection is encrypted, because greet has seen to that.
type mechanism struct{ client sasl.Client }

func (m mechanism) Start(*smtp.ServerInfo) (name string, first []byte, err error) {
	return m.client.Start()
}

func (m mechanism) Next(challenge []byte, more bool) ([]byte, error) {
	if !more {
		return nil, nil
	}
	return m.client.Next(challenge)
}
