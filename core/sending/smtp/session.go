package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
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

// greet sends the SMTP greeting. The connection begins with TLS if where.implicitTLS is
// true. Otherwise greet first starts TLS (STARTTLS), except for a server on this machine,
// to which the connection is then unencrypted.
func (s *SMTP) greet(conn net.Conn, where endpoint) (*smtp.Client, error) {
	config := &tls.Config{ServerName: where.host, RootCAs: s.cfg.Roots, MinVersion: tls.VersionTLS12}
	var client *smtp.Client
	switch {
	case where.implicitTLS:
		client = smtp.NewClient(tls.Client(conn, config))
	case where.loopback && isLoopback(conn.RemoteAddr()):
		client = smtp.NewClient(conn)
	default:
		// The timeouts of the SMTP library apply from the next command on. Until then, the
		// function open closes the connection when its context ends.
		var err error
		if client, err = smtp.NewClientStartTLS(conn, config); err != nil {
			return nil, err
		}
	}
	client.CommandTimeout, client.SubmissionTimeout = s.cfg.CallTimeout, s.cfg.CallTimeout
	return client, client.Hello(s.cfg.Hostname)
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
	switch {
	case as.user == "":
		return nil
	case hasControl(as.user) || hasControl(as.password):
		return errCredentials
	case client.SupportsAuth(sasl.Plain):
		return client.Auth(sasl.NewPlainClient("", as.user, as.password))
	case client.SupportsAuth(sasl.Login):
		return client.Auth(sasl.NewLoginClient(as.user, as.password))
	}
	return errMechanisms
}

var errSize = errors.New("smtp: the message is larger than the server accepts")

// sendMessage sends one message over the connection. After a failure the connection must be
// closed.
func (s *session) sendMessage(ctx, caller context.Context, l letter) *sending.Failure {
	stop := context.AfterFunc(ctx, s.close)
	defer stop()
	s.uses++
	if limit, ok := s.client.MaxMessageSize(); ok && limit > 0 && len(l.data) > limit {
		return newFailure(sending.Rejected, errSize)
	}
	if err := s.client.Mail(l.from, &smtp.MailOptions{Size: int64(len(l.data))}); err != nil {
		return failureAt(caller, sender, err)
	}
	for _, to := range l.recipients {
		if err := s.client.Rcpt(to, nil); err != nil {
			return failureAt(caller, recipient, err)
		}
	}
	w, err := s.client.Data()
	if err != nil {
		return failureAt(caller, content, err)
	}
	if _, err := w.Write(l.data); err != nil {
		return failureAt(caller, content, err)
	}
	// From here on, the server may have accepted the message.
	if err := w.Close(); err != nil {
		return failureAt(caller, afterDot, err)
	}
	return nil
}

// isAlive reports whether the server answers the command NOOP.
func (s *session) isAlive(ctx context.Context) bool {
	stop := context.AfterFunc(ctx, s.close)
	defer stop()
	return s.client.Noop() == nil
}
