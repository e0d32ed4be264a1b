package smtp_test

import (
	"errors"
	"net/mail"
	"slices"
	"strings"
	"testing"
	"time"

	message "github.com/emersion/go-message"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

// places are functions that put a caller's text into each field of a message, by the name
// of the field.
var places = map[string]func(*sending.Message, string){
	"From":         func(m *sending.Message, s string) { m.From = s },
	"From's name":  func(m *sending.Message, s string) { m.From = s + " <orders@example.com>" },
	"To":           func(m *sending.Message, s string) { m.To = []string{s} },
	"To's name":    func(m *sending.Message, s string) { m.To = []string{`"` + s + `" <ada@example.net>`} },
	"Cc":           func(m *sending.Message, s string) { m.CC = []string{s} },
	"Bcc":          func(m *sending.Message, s string) { m.BCC = []string{s} },
	"Reply-To":     func(m *sending.Message, s string) { m.ReplyTo = []string{s} },
	"Subject":      func(m *sending.Message, s string) { m.Content.Subject = s },
	"a tag":        func(m *sending.Message, s string) { m.Tags = map[string]string{"a": s} },
	"a tag's name": func(m *sending.Message, s string) { m.Tags = map[string]string{s: "a"} },
	"a header":     func(m *sending.Message, s string) { m.Headers = []sending.Header{{Name: "X-A", Value: s}} },
	"its name":     func(m *sending.Message, s string) { m.Headers = []sending.Header{{Name: s, Value: "a"}} },
}

func TestHeadersCannotBeInjected(t *testing.T) {
	t.Parallel()
	m := serve(t, nil, false)
	a := adapter(t, m.address, nil)
	for place, put := range places {
		for _, text := range []string{
			"a\r\nBcc: evil@example.net", "a\nBcc: evil@example.net", "a\rBcc: evil@example.net", "a\r\n\r\nbody", "\r\n", "a\x00b", "a\x7fb", "a\u0085b", "a\u2028b", "a\xffb", "a\tb",
			strings.Repeat("x", 9_000), strings.Repeat("x", 950),
		} {
			one := receipt()
			put(&one, text)
			_, err := a.Send(t.Context(), "org", one)
			wantKind(t, place+" with "+text[:min(20, len(text))], err, sending.Invalid)
		}
	}
	one := receipt()
	one.From = "=?utf-8?q?a=0D=0ABcc:_evil@example.net?= <orders@example.com>"
	_, err := a.Send(t.Context(), "org", one)
	wantKind(t, "an encoded line break", err, sending.Invalid)
	if got := m.received(); len(got) != 0 {
		t.Errorf("the server took %+v", got)
	}
}

func TestInvalidMessages(t *testing.T) {
	t.Parallel()
	a := adapter(t, "127.0.0.1:1", nil)
	change := map[string]func(*sending.Message){
		"no sender":           func(m *sending.Message) { m.From = "" },
		"a sender of two":     func(m *sending.Message) { m.From = "a@example.com, b@example.com" },
		"a quoted address":    func(m *sending.Message) { m.To = []string{`"a b"@example.com`} },
		"an address of IP":    func(m *sending.Message) { m.To = []string{"a@[127.0.0.1]"} },
		"no recipient":        func(m *sending.Message) { m.To = nil },
		"too many recipients": func(m *sending.Message) { m.To, m.CC = slices.Repeat(m.To, 60), slices.Repeat(m.To, 60) },
		"far too many":        func(m *sending.Message) { m.BCC = slices.Repeat(m.To, 10_000) },
		"no content":          func(m *sending.Message) { m.Content.Text = "" },
		"content of no UTF-8": func(m *sending.Message) { m.Content.Text = "\xff" },
		"too much content":    func(m *sending.Message) { m.Content.HTML = strings.Repeat("x", 11<<20) },
		"too many headers":    func(m *sending.Message) { m.Headers = slices.Repeat([]sending.Header{{Name: "X-A", Value: "a"}}, 101) },
	}
	for _, name := range []string{
		"From", "fRoM", "Sender", "To", "CC", "Bcc", "Subject", "Date", "Message-ID", "MIME-Version", "Content-Type", "Content-Transfer-Encoding",
		"Return-Path", "Received", "DKIM-Signature", "Resent-To", "", "a b", "a:b", "ä", strings.Repeat("x", 61),
	} {
		change["header "+name] = func(m *sending.Message) { m.Headers = []sending.Header{{Name: name, Value: "a"}} }
	}
	for name, change := range change {
		one := receipt()
		change(&one)
		_, err := a.Send(t.Context(), "org", one)
		wantKind(t, name, err, sending.Invalid)
	}
}

// FuzzCompose checks that a composed message, when it is parsed, has the subject and header
// value of the input and no unexpected header fields.
func FuzzCompose(f *testing.F) {
	f.Add("Ada", "Hello", "a", "text", "<p>html</p>")
	f.Add("Ünal, O'Neil \"x\"", "=?utf-8?q?x?=  two", " lead and trail ", ".\r\n.\n", "")
	f.Add("", strings.Repeat("long ", 300), strings.Repeat("ü", 500), "", "x\x00y")
	f.Fuzz(func(t *testing.T, name, subject, value, text, html string) {
		m := receipt()
		m.From = (&mail.Address{Name: name, Address: "orders@example.com"}).String()
		m.Content = sending.Content{Subject: subject, Text: text, HTML: html}
		m.Headers = []sending.Header{{Name: "X-Value", Value: value}}
		data, err := smtp.Compose(m, time.Unix(0, 0).UTC())
		if err != nil {
			if fail, ok := errors.AsType[*sending.Failure](err); !ok || fail.Kind != sending.Invalid {
				t.Fatalf("failed with %v", err)
			}
			return
		}
		wantFields(t, data, subject, value)
	})
}

func wantFields(t *testing.T, data, subject, value string) {
	t.Helper()
	head, _, _ := strings.Cut(data, "\r\n\r\n")
	for line := range strings.SplitSeq(head, "\r\n") {
		if len(line) > 998 || strings.ContainsAny(line, "\r\n\x00") {
			t.Errorf("a header line is %q", line)
		}
	}
	e, err := message.Read(strings.NewReader(data))
	if err != nil {
		t.Fatalf("%v reading\n%s", err, data)
	}
	for name, want := range map[string]string{"Subject": subject, "X-Value": value} {
		if got, err := e.Header.Text(name); err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", name, got, err, want)
		}
	}
	allowed := []string{"Date", "Message-Id", "From", "To", "Subject", "X-Value", "Mime-Version", "Content-Type", "Content-Transfer-Encoding"}
	for f := e.Header.Fields(); f.Next(); {
		if !slices.Contains(allowed, f.Key()) {
			t.Errorf("there is a field %s", f.Key())
		}
	}
}
