package smtp_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending/smtp"
)

const deliveryReport = `From: MAILER-DAEMON@mx.example.net
To: orders@example.com
Subject: Undelivered Mail Returned to Sender
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

--b1
Content-Type: text/plain

I am sorry.
--b1
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.example.net
Arrival-Date: Fri, 2 Jan 2026 03:04:05 +0000

Final-Recipient: rfc822; box17@mx.example.net
Original-Recipient: rfc822;Ada@example.net
Action: Failed (for good)
Status: 5.1.1 (no such user)
Diagnostic-Code: smtp; 550 5.1.1 <Ada@example.net>:
    no such user

Final-Recipient: RFC822; grace@example.net
Action: delayed
Status: 4.4.1
--b1
Content-Type: text/rfc822-headers

Message-ID: <0190@example.com>
Subject: Your receipt
--b1--
`

const complaint = `From: abuse@provider.example
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report; boundary=b2

--b2
Content-Type: text/plain

A complaint.
--b2
Content-Type: message/feedback-report

Feedback-Type: Abuse
User-Agent: Provider/1
Version: 1
Original-Rcpt-To: <ada@example.net>
Original-Rcpt-To: grace@example.net

--b2
Content-Type: message/rfc822

Message-ID: <0191@example.com>
Content-Type: multipart/mixed; boundary=x

hello
--b2--
`

func TestParseFeedback(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mail string
		want smtp.Feedback
	}{
		"a delivery report": {deliveryReport, smtp.Feedback{
			OriginalMessageID: "0190@example.com",
			Deliveries: []smtp.DeliveryReport{
				{"Ada@example.net", smtp.ActionFailed, "5.1.1", "smtp; 550 5.1.1 <Ada@example.net>: no such user"},
				{Recipient: "grace@example.net", Action: smtp.ActionDelayed, Status: "4.4.1"},
			},
		}},
		"a complaint": {complaint, smtp.Feedback{
			OriginalMessageID: "0191@example.com",
			Complaint:         &smtp.Complaint{Type: "abuse", Recipients: []string{"ada@example.net", "grace@example.net"}},
		}},
		"lines that end as on the wire": {strings.ReplaceAll(complaint, "\n", "\r\n"), smtp.Feedback{
			OriginalMessageID: "0191@example.com",
			Complaint:         &smtp.Complaint{Type: "abuse", Recipients: []string{"ada@example.net", "grace@example.net"}},
		}},
		"a report without the message": {strings.Replace(deliveryReport, "text/rfc822-headers", "text/plain", 1), smtp.Feedback{
			Deliveries: []smtp.DeliveryReport{
				{"Ada@example.net", smtp.ActionFailed, "5.1.1", "smtp; 550 5.1.1 <Ada@example.net>: no such user"},
				{Recipient: "grace@example.net", Action: smtp.ActionDelayed, Status: "4.4.1"},
			},
		}},
	} {
		got, err := smtp.ParseFeedback(strings.NewReader(test.mail))
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestNoFeedback(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mail string
		want error
	}{
		"nothing":                     {"", smtp.ErrNotFeedback},
		"a letter":                    {"From: a@example.com\n\nhello\n", smtp.ErrNotFeedback},
		"no header":                   {"\x00\x01\xff", smtp.ErrNotFeedback},
		"a report of nobody":          {strings.NewReplacer("Final-Recipient", "X", "Original-Recipient", "Y").Replace(deliveryReport), smtp.ErrNotFeedback},
		"actions that there are not":  {strings.NewReplacer("Failed", "flown", "delayed", "flown").Replace(deliveryReport), smtp.ErrNotFeedback},
		"a complaint without a type":  {strings.Replace(complaint, "Feedback-Type", "Feedback", 1), smtp.ErrNotFeedback},
		"more than feedback ever has": {deliveryReport + strings.Repeat("x", 4<<20), smtp.ErrFeedbackLarge},
		"nested without end":          {strings.Repeat("Content-Type: multipart/mixed; boundary=a\n\n--a\n", 200), smtp.ErrNotFeedback},
	} {
		if got, err := smtp.ParseFeedback(strings.NewReader(test.mail)); !errors.Is(err, test.want) {
			t.Errorf("%s: %+v, %v, want %v", name, got, err, test.want)
		}
	}
}

func TestFeedbackIsBounded(t *testing.T) {
	t.Parallel()
	block := "Final-Recipient: rfc822; ada@example.net\nAction: failed\nDiagnostic-Code: " + strings.Repeat("ä\x01", 900) + "\n\n"
	mail := "Content-Type: message/delivery-status\n\nReporting-MTA: x\n\n" + strings.Repeat(block, 1000)
	got, err := smtp.ParseFeedback(strings.NewReader(mail))
	if err != nil || len(got.Deliveries) != 100 {
		t.Fatalf("%d reports, %v, want 100", len(got.Deliveries), err)
	}
	if d := got.Deliveries[0].Diagnostic; len(d) > 500 || !utf8.ValidString(d) || strings.Contains(d, "\x01") {
		t.Errorf("the diagnostic is %q", d)
	}
}

func FuzzParseFeedback(f *testing.F) {
	f.Add([]byte(deliveryReport))
	f.Add([]byte(complaint))
	f.Add([]byte("Content-Type: message/delivery-status\nContent-Transfer-Encoding: base64\n\nAAAA"))
	f.Fuzz(func(t *testing.T, mail []byte) {
		got, err := smtp.ParseFeedback(strings.NewReader(string(mail)))
		if err != nil {
			return
		}
		texts := []string{got.OriginalMessageID}
		for _, d := range got.Deliveries {
			texts = append(texts, d.Status, d.Diagnostic)
			if !core.IsEmail(d.Recipient) {
				t.Errorf("%q is no address", d.Recipient)
			}
		}
		if got.Complaint != nil {
			texts = append(texts, got.Complaint.Type)
		}
		for _, text := range texts {
			if len(text) > 500 || !utf8.ValidString(text) || strings.ContainsAny(text, "\r\n\x00") {
				t.Errorf("a text is %q", text)
			}
		}
	})
}
