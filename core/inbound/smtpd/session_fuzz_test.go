package smtpd_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/inbound/inboundtest"
	"github.com/mailhelm/mailhelm/core/inbound/smtpd"
)

// replyLine matches a line of a reply: printable ASCII with a code, and an enhanced code unless
// it is of the greeting, EHLO or 354.
var replyLine = regexp.MustCompile(`^[2-5][0-9][0-9][ -]([245]\.[0-9]\.[0-9]{1,2} )?[ -~]+$`)

// FuzzSession sends any bytes to the server and checks its replies, and that only accepted
// messages with accepted recipients reach the intake.
func FuzzSession(f *testing.F) {
	for _, text := range []string{
		opening + "DATA\r\n" + second + "QUIT\r\n",
		opening + "RCPT TO:<inbox@other.example.com>\r\nRCPT TO:<b@org.example.com>\r\nDATA\r\nReceived: a\r\n b\r\n\r\n.\r\n.\r\n" + second,
		opening + "BDAT 5\r\nabcdeNOOP\r\nBDAT 4 LAST\r\nfgh\nRSET\r\nBDAT 0 LAST\r\n",
		"EHLO a\r\nSTARTTLS\r\nEHLO b\r\n", "HELO a\r\nMAIL FROM:<> SIZE=10 BODY=8BITMIME SMTPUTF8\r\nRCPT TO:<\"a b\"@grüße.example.com>\r\nDATA\r\n\r\n.\r\n",
		"VRFY a\r\nHELP\r\nEXPN a\r\nGET / HTTP/1.1\r\n\r\n", strings.Repeat("NOOP\r\n", 1200), strings.Repeat("RCPT TO:<unknown@org.example.com>\r\n", 30),
		opening + "DATA\r\n" + strings.Repeat("Received: x\r\n", 120) + "\r\n.\r\n", opening + "DATA\r\n" + strings.Repeat("x", 6000) + "\r\n.\r\n",
		opening + "DATA\r\n" + strings.Repeat("x", 3000) + "\r\n.\r\nBDAT 9999999999\r\n" + strings.Repeat("x", 5000),
	} {
		f.Add([]byte(text), uint16(4096))
		f.Add([]byte(text), uint16(1))
	}
	f.Fuzz(func(t *testing.T, input []byte, piece uint16) {
		const most = 2000
		replies, got := script(t, smtpd.Limits{MessageBytes: most, Recipients: 3}, input, int(piece))
		checkReplies(t, replies)
		if n := strings.Count(replies, "\r\n250 2.0.0 Accepted as "); n != len(got) {
			t.Errorf("%d messages have 250, %d were received", n, len(got))
		}
		recipients := 0
		for _, one := range got {
			checkReceived(t, one, most)
			recipients += len(one.Envelope.Routes)
			if !strings.Contains(replies, "250 2.0.0 Accepted as "+one.Envelope.ID+"\r\n") {
				t.Errorf("message %s has no reply", one.Envelope.ID)
			}
		}
		if n := strings.Count(replies, "\r\n250 2.1.5 "); recipients > n {
			t.Errorf("%d recipients were received, and %d accepted", recipients, n)
		}
	})
}

// checkReplies checks the form of all replies.
func checkReplies(t *testing.T, replies string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(replies, "\r\n"), "\r\n")
	for i, line := range lines {
		if !replyLine.MatchString(line) {
			t.Errorf("reply line %q", line)
			continue
		}
		if line[3] == '-' && (i+1 == len(lines) || lines[i+1][:3] != line[:3]) {
			t.Errorf("the reply does not end: %q", line)
		}
	}
}

// checkReceived checks a message that was received from bytes of a fuzzer.
func checkReceived(t *testing.T, r inboundtest.Received, most int) {
	t.Helper()
	text := sent(t, r)
	if len(text) > most {
		t.Errorf("a message of %d bytes was received", len(text))
	}
	if strings.ContainsAny(strings.ReplaceAll(string(r.Body), "\r\n", ""), "\r\n") {
		t.Errorf("a message with a bare CR or LF was received: %q", text)
	}
	if len(r.Envelope.Routes) == 0 || len(r.Envelope.Routes) > 3 {
		t.Errorf("a message with %d recipients was received", len(r.Envelope.Routes))
	}
	for _, route := range r.Envelope.Routes {
		if route.OrgID != r.Envelope.Routes[0].OrgID {
			t.Errorf("a message for two organizations was received: %v", r.Envelope.Routes)
		}
	}
}
