package smtpd

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// session is the dialogue with one client. Its methods run in one goroutine.
type session struct {
	server *Server
	wire   *wire
	remote netip.Addr

	helo     string // the argument of HELO or EHLO; "" before
	extended bool   // the client said EHLO
	mail     *transaction

	messages int // accepted on this connection
	unknown  int // refused recipients
	errors   int // unknown commands and syntax errors
	commands int // since the last accepted message
	progress time.Time
}

// transaction is a message that begins with MAIL.
type transaction struct {
	sender string
	utf8   bool // the client said SMTPUTF8
	rcpts  int  // accepted RCPT commands
	routes []inbound.Route
}

func newSession(s *Server, conn net.Conn) *session {
	return &session{server: s, wire: newWire(conn), remote: addressOf(conn), progress: now()}
}

// The errors that end a session. Their replies are in farewells.
var (
	errQuit     = errors.New("smtpd: the session has ended")
	errTooMany  = errors.New("smtpd: too many messages or commands")
	errFaulty   = errors.New("smtpd: too many errors")
	errNotSMTP  = errors.New("smtpd: the client speaks another protocol")
	errUnknown  = errors.New("smtpd: too many unknown recipients")
	errEarly    = errors.New("smtpd: input where the client must wait")
	errBadChunk = errors.New("smtpd: a chunk without a size")
)

// farewells has the last replies to clients. Other errors are those of the connection, on which
// no reply would arrive.
var farewells = []struct {
	cause          error
	code           int
	enhanced, text string
}{
	{errDisplaced, 421, "4.3.2", "All connections are in use and this one delivers nothing, try again later"},
	{errStopping, 421, "4.3.2", "Server is shutting down, try again later"},
	{os.ErrDeadlineExceeded, 421, "4.4.2", "Timeout"},
	{errLongLine, 500, "5.5.2", "Line is too long"},
	{errBareLineEnd, 500, "5.5.2", "Lines must end with CR LF and have no other CR or LF"},
	{errTooMany, 421, "4.7.0", "Too many messages or commands on this connection, connect again"},
	{errFaulty, 421, "4.7.0", "Too many errors"},
	{errUnknown, 421, "4.7.0", "Too many unknown recipients"},
	{errNotSMTP, 521, "5.7.0", "This is an SMTP server"},
	{errEarly, 554, "5.5.0", "Wait for the reply before sending more"},
	{errBadChunk, 501, "5.5.4", "Give the size of the chunk in bytes"},
	{errDrained, 421, "4.3.4", "Too much data after the end of what is accepted"},
}

// run speaks with the client until the session ends, and closes the connection.
func (s *session) run() {
	defer func() {
		if v := recover(); v != nil {
			s.server.cfg.Log.ErrorContext(s.server.ctx, "smtp: panic", "error", core.PanicText(v))
			s.wire.reply(421, "4.3.0", "Internal error, try again later")
			s.wire.linger()
		}
		_ = s.wire.close()
	}()
	s.wire.reply(220, "", s.server.cfg.Domain+" ESMTP")
	for {
		err := s.next()
		if err == nil {
			continue
		}
		for _, last := range farewells {
			if errors.Is(err, last.cause) {
				s.wire.reply(last.code, last.enhanced, last.text)
				break
			}
		}
		s.wire.linger()
		return
	}
}

// next reads and executes one command. An error ends the session.
func (s *session) next() error {
	line, err := s.readCommand(s.progress.Add(s.server.limits.MessageTimeout), true)
	if err != nil {
		return err
	}
	verb, arg := split(line)
	if do, ok := commands[verb]; ok {
		return do(s, arg)
	}
	return s.unknownCommand(verb)
}

// readCommand reads a command line, at the latest until end. It counts commands, and fails if
// there are too many.
func (s *session) readCommand(end time.Time, idle bool) (string, error) {
	if timeout := now().Add(s.server.limits.CommandTimeout); timeout.Before(end) {
		end = timeout
	}
	s.wire.waitForCommand(end, idle)
	if s.wire.stopped() {
		return "", errStopping
	}
	line, err := s.wire.readLine()
	if err != nil {
		return "", err
	}
	if s.commands++; s.commands > maxCommands {
		return "", errTooMany
	}
	return line, nil
}

// split divides a command line into the verb in upper case and the argument.
func split(line string) (verb, arg string) {
	verb, arg, _ = strings.Cut(line, " ")
	return strings.ToUpper(verb), strings.Trim(arg, " ")
}

// commands has the commands. An error ends the session.
var commands = map[string]func(*session, string) error{
	"EHLO":     func(s *session, arg string) error { return s.hello(arg, true) },
	"HELO":     func(s *session, arg string) error { return s.hello(arg, false) },
	"STARTTLS": (*session).startTLS,
	"MAIL":     (*session).beginMail,
	"RCPT":     (*session).addRecipient,
	"DATA":     (*session).data,
	"BDAT":     (*session).chunks,
	"RSET":     (*session).reset,
	"NOOP":     func(s *session, _ string) error { return s.reply(250, "2.0.0", "OK") },
	"QUIT":     (*session).quit,
	"VRFY": func(s *session, _ string) error {
		return s.reply(252, "2.5.0", "Addresses are not verified; send mail to try")
	},
	"HELP": func(s *session, _ string) error { return s.reply(214, "2.0.0", "See RFC 5321") },
	"EXPN": func(s *session, _ string) error { return s.reply(502, "5.5.1", "Command is not supported") },
}

// otherProtocols has verbs of protocols that browsers can be tricked to speak with a mail
// server. The session ends at the first one.
var otherProtocols = map[string]bool{"GET": true, "POST": true, "PUT": true, "HEAD": true, "OPTIONS": true, "CONNECT": true, "DELETE": true, "PATCH": true}

func (s *session) unknownCommand(verb string) error {
	if otherProtocols[verb] {
		return errNotSMTP
	}
	return s.faulty(500, "5.5.2", "Unknown command")
}

// reply replies and continues the session.
func (s *session) reply(code int, enhanced, text string) error {
	s.wire.reply(code, enhanced, text)
	return nil
}

// faulty replies to a command with an error, and ends the session after too many of them.
func (s *session) faulty(code int, enhanced, text string) error {
	if s.errors++; s.errors > maxErrors {
		return errFaulty
	}
	return s.reply(code, enhanced, text)
}

func (s *session) hello(arg string, extended bool) error {
	name, _, _ := strings.Cut(arg, " ")
	if !isClientName(name) {
		return s.faulty(501, "5.5.4", "Give the name of the client")
	}
	s.helo, s.extended, s.mail = name, extended, nil
	if !extended {
		return s.reply(250, "", s.server.cfg.Domain)
	}
	s.wire.replyLines(250, s.extensions()...)
	return nil
}

// extensions returns the lines of the reply to EHLO.
func (s *session) extensions() []string {
	lines := []string{s.server.cfg.Domain, "PIPELINING", "8BITMIME", "SMTPUTF8", "CHUNKING", "ENHANCEDSTATUSCODES"}
	lines = append(lines, "SIZE "+decimal(s.server.limits.MessageBytes))
	if s.server.cfg.TLS != nil && s.wire.tls() == nil {
		lines = append(lines, "STARTTLS")
	}
	return lines
}

// startTLS encrypts the connection (RFC 3207). Input that came before the handshake would be
// plain text in an encrypted session, so it ends the session.
func (s *session) startTLS(arg string) error {
	switch {
	case s.server.cfg.TLS == nil:
		return s.faulty(502, "5.5.1", "Command is not supported")
	case s.wire.tls() != nil:
		return s.reply(503, "5.5.1", "The connection is encrypted already")
	case arg != "":
		return s.faulty(501, "5.5.4", "STARTTLS has no argument")
	case s.wire.in.Buffered() > 0:
		return errEarly
	}
	s.wire.reply(220, "2.0.0", "Begin TLS")
	if err := s.wire.out.Flush(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(s.server.ctx, handshakeTimeout)
	defer cancel()
	conn := tls.Server(s.wire.conn, s.server.cfg.TLS)
	if err := s.wire.await(); err != nil {
		return err
	}
	err := conn.HandshakeContext(ctx)
	s.wire.arrived(0)
	if err != nil {
		return errQuit
	}
	s.wire.replace(conn)
	s.helo, s.extended, s.mail = "", false, nil
	return nil
}

func (s *session) reset(string) error {
	s.mail = nil
	return s.reply(250, "2.0.0", "OK")
}

func (s *session) quit(string) error {
	s.wire.reply(221, "2.0.0", "Bye")
	return errQuit
}
