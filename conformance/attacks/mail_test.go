package attacks_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
)

// mailClient sends SMTP commands as plain lines, without a library.
type mailClient struct {
	net.Conn
	*textproto.Reader
}

func dialMail(t *testing.T, p *product.Product) mailClient {
	t.Helper()
	conn, err := net.Dial("tcp", p.SMTPAddr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() }) //nolint:errcheck // the test is over
	return mailClientOf(t, conn)
}

// mailClientOf returns a client on a connection, which must end within 20 seconds.
func mailClientOf(t *testing.T, conn net.Conn) mailClient {
	t.Helper()
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return mailClient{conn, textproto.NewReader(bufio.NewReader(conn))}
}

// sendCommand sends one SMTP command line and returns the code of the answer. It returns 0
// if the connection is closed.
func (c mailClient) sendCommand(line string) int {
	if _, err := io.WriteString(c.Conn, line+"\r\n"); err != nil {
		return 0
	}
	code, _, _ := c.ReadResponse(0) // the caller checks the code, so an error code is no failure
	return code
}

// refusesAll sends mail for addresses that the product does not receive mail for, and
// commands that would reveal its users or let the client pose as another. The product must
// refuse all of them.
func (c mailClient) refusesAll(t *testing.T, p *product.Product) {
	t.Helper()
	c.sendCommand("EHLO attacker")
	c.sendCommand("MAIL FROM:<>")
	for _, to := range []string{p.Contact, p.UserEmail, "postmaster", "a@evil.example", "%s%n@x", "@a,@b:c@d", `"a\r\nRCPT TO:<b@c>"@d`} {
		if code := c.sendCommand("RCPT TO:<" + to + ">"); code < 500 {
			t.Errorf("RCPT TO %s: %d", to, code)
		}
	}
	// The chunk of BDAT ends with the line break of sendCommand, so that each code is of its line.
	for _, line := range []string{"DATA", "BDAT 7 LAST\r\nhello", "AUTH PLAIN AGEAYg==", "VRFY " + p.UserEmail, "EXPN all", "XCLIENT ADDR=127.0.0.1"} {
		if code := c.sendCommand(line); code != 252 && code < 500 { // 252 neither confirms nor denies (RFC 5321)
			t.Errorf("%q: %d", line, code)
		}
	}
}

// TestNoMailIsTakenOrRelayed sends mail and commands to the mail server of the product,
// without and with TLS.
func TestNoMailIsTakenOrRelayed(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	c := dialMail(t, p)
	if code, _, err := c.ReadResponse(220); err != nil {
		t.Fatalf("greeting: %d %v", code, err)
	}
	c.refusesAll(t, p)
	if code := c.sendCommand("STARTTLS"); code != 220 {
		t.Fatalf("STARTTLS: %d", code)
	}
	// RFC 3207 lets mail servers have any certificate.
	encrypted := tls.Client(c.Conn, &tls.Config{InsecureSkipVerify: true})
	if err := encrypted.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	mailClient{encrypted, textproto.NewReader(bufio.NewReader(encrypted))}.refusesAll(t, p)
}

// TestNoCommandIsTakenInsteadOfTLS sends commands in plain text where the handshake of TLS
// must be. The product must answer none.
func TestNoCommandIsTakenInsteadOfTLS(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	c := dialMail(t, p)
	if code, _, err := c.ReadResponse(220); err != nil {
		t.Fatalf("greeting: %d %v", code, err)
	}
	c.sendCommand("EHLO attacker")
	if code := c.sendCommand("STARTTLS"); code != 220 {
		t.Fatalf("STARTTLS: %d", code)
	}
	for _, line := range []string{"EHLO attacker", "NOOP"} {
		if code := c.sendCommand(line); code != 0 {
			t.Errorf("%q: %d", line, code)
		}
	}
}

func TestLongAndManyMailCommandsAreCutOff(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{})
	long := dialMail(t, p)
	if code := long.sendCommand("EHLO " + strings.Repeat("a", 1<<20)); code == 250 {
		t.Error("a command of 1 MiB is taken")
	}
	many := dialMail(t, p)
	for i := range 1000 {
		if many.sendCommand(fmt.Sprintf("RUBBISH %d", i)) == 0 {
			return
		}
	}
	t.Error("a thousand mistakes are borne")
}
