package ingest_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound/ses"
	"github.com/mailhelm/mailhelm/rest/ingest"
)

// mailbox notes the notifications of received mail, and answers each with the error err.
type mailbox struct {
	err error
	got []string
}

func (m *mailbox) IsReceived(message []byte) bool { return ses.IsReceived(message) }

func (m *mailbox) Receive(_ context.Context, orgID string, message []byte) error {
	m.got = append(m.got, orgID+" "+string(message))
	return m.err
}

// TestReceivedMail passes notifications of received mail on only with a signature, and answers
// so that SNS repeats those that could not be stored and no others.
func TestReceivedMail(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const received = `{"notificationType":"Received"}`
	n := notification(received).sign(t, s.signer.key)
	problem(t, s.notify("path-ses", n), 400, "validation_failed") // no receiver

	m := &mailbox{}
	s.events.Mail, s.events.Metrics = m, nil
	s.handler = ingest.New(s.events)
	problem(t, s.notify("path-ses", notification(received).sign(t, foreignKey())), 401, "invalid_key")
	if len(m.got) != 0 {
		t.Errorf("a forged notification was passed on: %q", m.got)
	}
	wantAccepted(t, s.notify("path-ses", n))
	wantAccepted(t, s.notify("path-ses", notification(deliveryOf("message-1")).sign(t, s.signer.key)))
	if len(m.got) != 1 || m.got[0] != "org-ses "+received {
		t.Errorf("passed on %q", m.got)
	}
	m.err = core.Invalid("mail.messageId", "is missing")
	problem(t, s.notify("path-ses", n), 400, "validation_failed")
	m.err = errors.New("no disk")
	problem(t, s.notify("path-ses", n), 500, "internal_error")
}

// TestTopicInReceivingRegion accepts notifications of received mail from the topic with the name
// and account of the connection's topic in a region that receives, and nothing else from it.
func TestTopicInReceivingRegion(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const received = `{"notificationType":"Received"}`
	in := func(n note, arn string) note {
		n["TopicArn"] = arn
		n["SubscribeURL"] = strings.ReplaceAll(n["SubscribeURL"], url.QueryEscape(topic), url.QueryEscape(arn))
		return n.sign(t, s.signer.key)
	}
	beside := strings.Replace(topic, "eu-west-1", "us-east-1", 1)
	s.internet.files["https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn="+url.QueryEscape(beside)+"&Token=2336412f37fb687f5d51e6e2425e"] = []byte("confirmed")
	m := &mailbox{}
	s.events.Mail, s.events.Metrics = m, nil
	s.handler = ingest.New(s.events)
	problem(t, s.notify("path-ses", in(notification(received), beside)), 401, "invalid_key") // no such region
	problem(t, s.notify("path-ses", in(subscription(), beside)), 401, "invalid_key")

	s.events.MailRegions = []string{"eu-central-1", "us-east-1"}
	s.handler = ingest.New(s.events)
	wantAccepted(t, s.notify("path-ses", in(subscription(), beside)))
	wantAccepted(t, s.notify("path-ses", in(notification(received), beside)))
	wantAccepted(t, s.notify("path-ses", in(notification("Successfully validated SNS topic for Amazon SES event publishing."), beside)))
	problem(t, s.notify("path-ses", in(notification(deliveryOf("message-1")), beside)), 401, "invalid_key")
	for _, arn := range []string{
		strings.Replace(topic, "eu-west-1", "us-west-2", 1), strings.Replace(beside, "mailhelm-events", "mailhelm-mail", 1),
		strings.Replace(beside, "111122223333", "111122223334", 1), strings.Replace(beside, "arn:aws:", "arn:aws-cn:", 1),
		strings.Replace(beside, ":sns:", ":sqs:", 1), beside + ":x", "us-east-1", "",
	} {
		problem(t, s.notify("path-ses", in(notification(received), arn)), 401, "invalid_key")
	}
	problem(t, s.notify("path-unpinned", in(notification(received), beside)), 401, "invalid_key")
	if len(m.got) != 1 || m.got[0] != "org-ses "+received {
		t.Errorf("passed on %q", m.got)
	}
	s.events.Mail = nil
	s.handler = ingest.New(s.events)
	problem(t, s.notify("path-ses", in(notification(received), beside)), 401, "invalid_key")
}
