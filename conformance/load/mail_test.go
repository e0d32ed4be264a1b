package load

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"mime/quotedprintable"
	"net/textproto"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
)

const (
	// connections is the number of SMTP connections that send at the same time.
	connections = 16
	// perConnection is how many messages a client sends before it opens a new connection. A
	// server may end a connection after 1,000.
	perConnection = 500

	senderDomain = "sender.example.org"
	mailSender   = "bounces@" + senderDomain
)

// mailLoad is what a benchmark of receiving sends: messages of 11 KB with valid DKIM signatures,
// and the DNS records that let SPF, DKIM and DMARC pass.
type mailLoad struct {
	dns      string // address of the name server
	messages [][]byte
}

// newMailLoad makes 64 signed messages, which are sent again and again: a server judges and stores
// each as if it were another. The body is text, HTML with links and an image.
func newMailLoad(b *testing.B) *mailLoad {
	b.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	must(b, err)
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	must(b, err)
	zone := mailauthtest.NewZone(b,
		senderDomain+`. TXT "v=spf1 ip4:127.0.0.1 -all"`, "_dmarc."+senderDomain+`. TXT "v=DMARC1; p=reject"`)
	zone.AddTXT("load._domainkey."+senderDomain, "v=DKIM1; k=rsa; p="+base64.StdEncoding.EncodeToString(public))
	p := &mailLoad{dns: zone.Serve(b).String()}
	for i := range 64 {
		var signed bytes.Buffer
		must(b, dkim.Sign(&signed, bytes.NewReader(elevenKB(i)), &dkim.SignOptions{
			Domain: senderDomain, Selector: "load", Signer: key, Hash: crypto.SHA256,
			HeaderCanonicalization: dkim.CanonicalizationRelaxed, BodyCanonicalization: dkim.CanonicalizationRelaxed,
		}))
		p.messages = append(p.messages, append(signed.Bytes(), ".\r\n"...))
	}
	return p
}

// elevenKB returns a message of about 11 KB with text, HTML and an image.
func elevenKB(n int) []byte {
	var m bytes.Buffer
	fmt.Fprintf(&m, "From: =?utf-8?q?J=C3=BCrgen?= at Example <news@%s>\r\nTo: Ada <ada@example.net>\r\nSubject: Your sign-up at Example, step %d\r\n", senderDomain, n)
	fmt.Fprintf(&m, "Date: Sat, 28 Nov 2026 12:00:00 +0000\r\nMessage-ID: <%d.load@%s>\r\nList-Unsubscribe: <https://%s/u/%d>\r\nMIME-Version: 1.0\r\n", n, senderDomain, senderDomain, n)
	m.WriteString("Content-Type: multipart/mixed; boundary=\"mixed-1\"\r\n\r\n--mixed-1\r\nContent-Type: multipart/alternative; boundary=\"alt-1\"\r\n\r\n")
	text := fmt.Sprintf("Your verification code is %06d. Open https://%s/confirm?token=%d to confirm.\r\n", 482_000+n, senderDomain, n)
	html := fmt.Sprintf("<html><body><h1>Welcome</h1><p>Your code is <b>%06d</b>.</p><a href=\"https://%s/confirm?token=%d\">Confirm</a>\r\n", 482_000+n, senderDomain, n)
	part(&m, "plain", text+strings.Repeat("Grüße aus München: this is a line of an ordinary text, with a few words.\r\n", 24))
	part(&m, "html", html+strings.Repeat("<p>Grüße aus München: this is a line with <a href=\"https://example.org/a?b=c\">a link</a>.</p>\r\n", 24)+"</body></html>\r\n")
	m.WriteString("\r\n--alt-1--\r\n--mixed-1\r\nContent-Type: image/png; name=a.png\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.png\r\n\r\n")
	line := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{0x89}, 57)) + "\r\n"
	m.WriteString(strings.Repeat(line, 60) + "--mixed-1--\r\n")
	return m.Bytes()
}

func part(m *bytes.Buffer, kind, content string) {
	m.WriteString("--alt-1\r\nContent-Type: text/" + kind + "; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	w := quotedprintable.NewWriter(m)
	_, _ = io.WriteString(w, content) // the buffer accepts all
	_ = w.Close()
}

// send sends messages over 16 connections, to each recipient in turn, until next returns false.
// It returns how many were accepted.
func (p *mailLoad) send(b *testing.B, server string, recipients []string, next func(sent int64) bool) int {
	b.Helper()
	var began, accepted atomic.Int64
	var senders sync.WaitGroup
	failures := make(chan error, connections)
	for range connections {
		senders.Go(func() {
			var conn *textproto.Conn
			var err error
			for i := 0; err == nil; i++ {
				n := began.Add(1) - 1
				if !next(n) {
					break
				}
				if i%perConnection == 0 {
					if conn != nil {
						_ = conn.Close()
					}
					if conn, err = greet(server); err != nil {
						break
					}
				}
				if err = sendMessage(conn, recipients[n%int64(len(recipients))], p.messages[n%int64(len(p.messages))]); err == nil {
					accepted.Add(1)
				}
			}
			if conn != nil {
				_ = conn.Close()
			}
			failures <- err
		})
	}
	senders.Wait()
	for range connections {
		must(b, <-failures)
	}
	return int(accepted.Load())
}

// sendMessages sends n messages.
func (p *mailLoad) sendMessages(b *testing.B, server string, recipients []string, n int) {
	b.Helper()
	if sent := p.send(b, server, recipients, func(sent int64) bool { return sent < int64(n) }); sent != n {
		b.Fatalf("%d of %d messages were accepted", sent, n)
	}
}

// sendFor sends messages for a time, and returns how many.
func (p *mailLoad) sendFor(b *testing.B, server string, recipients []string, d time.Duration) int {
	b.Helper()
	until := time.Now().Add(d)
	return p.send(b, server, recipients, func(int64) bool { return time.Now().Before(until) })
}

// greet opens a connection.
func greet(server string) (*textproto.Conn, error) {
	conn, err := textproto.Dial("tcp", server)
	if err != nil {
		return nil, err
	}
	if _, _, err = conn.ReadResponse(220); err == nil {
		err = exchange(conn, []byte("EHLO "+senderDomain+"\r\n"), 250)
	}
	if err != nil {
		return nil, fmt.Errorf("greeting: %w", err)
	}
	return conn, nil
}

// sendMessage sends one message, which ends with a dot, and waits for the reply to each command.
func sendMessage(conn *textproto.Conn, to string, message []byte) error {
	if err := exchange(conn, []byte("MAIL FROM:<"+mailSender+">\r\n"), 250); err != nil {
		return err
	}
	if err := exchange(conn, []byte("RCPT TO:<"+to+">\r\n"), 250); err != nil {
		return err
	}
	if err := exchange(conn, []byte("DATA\r\n"), 354); err != nil {
		return err
	}
	return exchange(conn, message, 250)
}

func exchange(conn *textproto.Conn, command []byte, code int) error {
	if _, err := conn.W.Write(command); err != nil {
		return err
	}
	if err := conn.W.Flush(); err != nil {
		return err
	}
	_, _, err := conn.ReadResponse(code)
	return err
}
