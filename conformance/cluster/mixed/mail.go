package mixed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/smtp"
	"net/textproto"
	"time"
)

// mail is an attempt to deliver a message, with a subject of its own.
type mail struct {
	subject string
	// data is true if the message may have arrived completely, accepted if the server answered 250.
	data, accepted bool
}

// mail delivers a message to the receiving domain. An attempt that does not get 250 is repeated as
// another message, because servers that send mail do so too.
func (c *caller) mail(ctx context.Context) {
	n := c.Work.number("mails")
	for try := 1; ctx.Err() == nil; try++ {
		m := mail{subject: fmt.Sprintf("mail-%d.%d", n, try)}
		server, began := c.chance.IntN(len(c.SMTPs)), time.Now()
		err := m.deliver(ctx, c.SMTPs[server], "sales@"+c.MailDomain)
		c.mu.Lock()
		c.mails = append(c.mails, m)
		c.mu.Unlock()
		reply, replied := errors.AsType[*textproto.Error](err)
		switch {
		case err == nil:
			c.Journal.ok(began)
			return
		case replied && (reply.Code == 451 || reply.Code == 421):
			c.Journal.again(fmt.Sprintf("SMTP %d", reply.Code))
		case replied:
			c.Journal.fail("SMTP: %v", reply)
			return
		default:
			c.Journal.broken(server, began, err)
		}
		c.sleep(ctx, 100*time.Millisecond+time.Duration(c.chance.Int64N(int64(400*time.Millisecond))))
	}
}

// deliver makes one attempt, and notes how far it came.
func (m *mail) deliver(ctx context.Context, address, to string) error {
	dialer := net.Dialer{Timeout: requestTime}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	if err := conn.SetDeadline(time.Now().Add(requestTime)); err != nil {
		return errors.Join(err, conn.Close())
	}
	client, err := smtp.NewClient(conn, "localhost")
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	defer client.Close() //nolint:errcheck // the reply to the message counts
	if err := errors.Join(client.Hello("client.example.org")); err != nil {
		return err
	}
	if err := client.Mail("ada@example.org"); err != nil {
		return err
	}
	if err := client.Rcpt(to); err != nil {
		return err
	}
	w, err := client.Data()
	if err != nil {
		return err
	}
	m.data = true // a part of the text may be sent, and closing w waits for the reply
	if _, err := io.WriteString(w, "From: Ada <ada@example.org>\r\nTo: "+to+"\r\nSubject: "+m.subject+"\r\n\r\nHello\r\n"); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	m.accepted = true
	return nil
}
