package payload_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/payload"
)

func link(key, filename, contentType string) (string, error) {
	return "https://fetch.test/" + key + "?n=" + filename + "&t=" + contentType, nil
}

// TestFullMessage compares the JSON of a message with all members, one body of which is an
// object.
func TestFullMessage(t *testing.T) {
	t.Parallel()
	m := inbound.Message{
		ID: "m1", Sender: "bounce@shop.example", ReceivedAt: time.Date(2026, 11, 28, 12, 0, 0, 0, time.FixedZone("", 3600)),
		Verdicts: inbound.Verdicts{SPF: inbound.Pass, DKIM: inbound.Fail, DMARC: inbound.Gray, Spam: inbound.Disabled, Virus: inbound.ProcessingFailed},
		RawKey:   "raw", From: &inbound.Address{Address: "ada@shop.example", Name: "Ada"}, To: []inbound.Address{{Address: "x@inbox.test"}},
		Cc: []inbound.Address{{Address: "y@inbox.test"}}, ReplyTo: []inbound.Address{{Address: "z@shop.example"}}, Subject: "Your code", Date: "Sat, 28 Nov 2026 12:00:00 +0100",
		HeaderID: "<1@shop.example>", InReplyTo: "<0@shop.example>", References: []string{"<0@shop.example>"},
		Headers: []inbound.Header{{Name: "Subject", Value: "Your code"}}, Text: "123456", HTMLKey: "html",
		Attachments: []inbound.File{{Filename: "a.pdf", ContentType: "application/pdf", ContentID: "cid", Inline: true, Size: 12, Key: "a"}}, Warnings: []string{"no charset"},
	}
	want := `{"schema_version":1,"message_id":"m1","received_at":"2026-11-28T11:00:00Z","sender":"bounce@shop.example","recipients":[],` +
		`"verdicts":{"spf":"PASS","dkim":"FAIL","dmarc":"GRAY","spam":"DISABLED","virus":"PROCESSING_FAILED"},` +
		`"message":{"from":{"address":"ada@shop.example","name":"Ada"},"to":[{"address":"x@inbox.test","name":""}],"cc":[{"address":"y@inbox.test","name":""}],"reply_to":[{"address":"z@shop.example","name":""}],` +
		`"subject":"Your code","date":"Sat, 28 Nov 2026 12:00:00 +0100","header_message_id":"\u003c1@shop.example\u003e","in_reply_to":"\u003c0@shop.example\u003e","references":["\u003c0@shop.example\u003e"],` +
		`"headers":[{"name":"Subject","value":"Your code"}],"text_body":"123456","html_body_url":"https://fetch.test/html?n=body.html\u0026t=text/html; charset=utf-8",` +
		`"attachments":[{"filename":"a.pdf","content_type":"application/pdf","size":12,"content_id":"cid","inline":true,"url":"https://fetch.test/a?n=a.pdf\u0026t=application/pdf"}],"warnings":["no charset"]},` +
		`"raw_url":"https://fetch.test/raw?n=m1.eml\u0026t=message/rfc822"}`
	if got := render(t, m); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBareMessage checks that the lists of a message without content are arrays, and that its
// bodies are empty texts.
func TestBareMessage(t *testing.T) {
	t.Parallel()
	want := `{"schema_version":1,"message_id":"m2","received_at":"0001-01-01T00:00:00Z","sender":"","recipients":[],"verdicts":{"spf":"","dkim":"","dmarc":"","spam":"","virus":""},` +
		`"message":{"from":null,"to":[],"cc":[],"reply_to":[],"subject":"","date":"","header_message_id":"","in_reply_to":"","references":[],"headers":[],"text_body":"","html_body":"","attachments":[]},"raw_url":""}`
	if got := render(t, inbound.Message{ID: "m2"}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestLinkFails checks that the first failed link fails the whole message.
func TestLinkFails(t *testing.T) {
	t.Parallel()
	broken, calls := errors.New("broken"), 0
	m := inbound.Message{RawKey: "raw", TextKey: "text", HTMLKey: "html"}
	_, err := payload.Of(m, func(string, string, string) (string, error) {
		calls++
		if calls == 2 {
			return "", broken
		}
		return "url", nil
	})
	if !errors.Is(err, broken) || calls != 2 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func render(t *testing.T, m inbound.Message) string {
	t.Helper()
	p, err := payload.Of(m, link)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
