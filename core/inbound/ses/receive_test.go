package ses_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/ses"
	"github.com/mailhelm/mailhelm/core/objects"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const org, other = "org-a", "org-b"

// world routes addresses by their first letters, and notes what is accepted.
type world struct {
	objects  map[string]string
	accepted []inbound.Envelope
	bodies   []string
	broken   error
	// opens replaces the opening of objects, if it is not nil.
	opens func() (objects.Deposit, error)
}

func (w *world) Route(_ context.Context, address string) (inbound.Route, inbound.Refusal, error) {
	route := inbound.Route{Kind: inbound.ToDomain, OrgID: org, TargetID: "d", Recipient: address}
	switch {
	case strings.HasPrefix(address, "broken"):
		return inbound.Route{}, 0, errors.New("no database")
	case strings.HasPrefix(address, "other"):
		route.OrgID = other
	case strings.HasPrefix(address, "unknown"):
		return inbound.Route{}, inbound.NotOurs, nil
	}
	return route, inbound.Accepted, nil
}

func (w *world) IsRecorded(_ context.Context, orgID, domain string) (bool, error) {
	if domain == "down.test" {
		return false, errors.New("no database")
	}
	return orgID == org && domain == "pending.test", nil
}

func (w *world) Accept(_ context.Context, e inbound.Envelope, body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	w.accepted, w.bodies = append(w.accepted, e), append(w.bodies, string(text))
	return w.broken
}

func (w *world) Open(_ context.Context, orgID, bucket, key string) (objects.Deposit, error) {
	if w.opens != nil {
		return w.opens()
	}
	text, found := w.objects[orgID+" "+bucket+" "+key]
	if !found {
		return objects.Deposit{}, core.NotFound("object")
	}
	return objects.Deposit{Body: io.NopCloser(strings.NewReader(text)), Size: -1}, nil
}

func (w *world) receiver() *ses.Receiver {
	return ses.New(ses.Config{Router: w, Domains: w, Intake: w, Buckets: w, Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler)})
}

// receive passes a notification to a new receiver, as if to another process.
func (w *world) receive(t *testing.T, message string) error {
	t.Helper()
	return w.receiver().Receive(t.Context(), org, []byte(message))
}

// message returns a notification with the recipients. more replaces members of receipt.action.
func message(content string, action map[string]any, recipients ...string) string {
	status := func(s string) map[string]any { return map[string]any{"status": s} }
	text, _ := json.Marshal(map[string]any{
		"notificationType": "Received", "content": content,
		"receipt": map[string]any{
			"timestamp": "2026-03-01T11:59:58.125Z", "recipients": recipients, "action": action,
			"spamVerdict": status("FAIL"), "virusVerdict": status("DISABLED"), "spfVerdict": status("PASS"), "dkimVerdict": status("GRAY"), "dmarcVerdict": status("?"),
		},
		"mail": map[string]any{"messageId": sesID, "source": "<>"},
	})
	return string(text)
}

const sesID = "d6iitobk75ur44p8kdnnp7g2n800"

var inBucket = map[string]any{"type": "S3", "bucketName": "mail", "objectKey": "in/" + sesID}

func TestReceive(t *testing.T) {
	t.Parallel()
	w := &world{objects: map[string]string{"org-a mail in/" + sesID: "raw message"}}
	for _, text := range []string{
		message("", inBucket, "a@x.test", "other@x.test", "unknown@x.test", "b@x.test", "a@x.test"),
		message("cmF3IG1lc3NhZ2U=", map[string]any{"type": "SNS", "encoding": "BASE64"}, "a@x.test", "b@x.test"),
		message("raw message", map[string]any{"type": "SNS", "encoding": "UTF8"}, "a@x.test", "b@x.test"),
	} {
		if err := w.receive(t, text); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	route := func(address string) inbound.Route {
		return inbound.Route{Kind: inbound.ToDomain, OrgID: org, TargetID: "d", Recipient: address}
	}
	want := inbound.Envelope{
		ID: w.accepted[0].ID, Routes: []inbound.Route{route("a@x.test"), route("b@x.test")}, ReceivedAt: now.Add(-1875 * time.Millisecond),
		Judged: &inbound.Verdicts{SPF: inbound.Pass, DKIM: inbound.Gray, DMARC: inbound.ProcessingFailed, Spam: inbound.Fail, Virus: inbound.Disabled},
	}
	for i, got := range w.accepted {
		if !reflect.DeepEqual(got, want) || w.bodies[i] != "raw message" {
			t.Errorf("accepted %+v with %q, want %+v", got, w.bodies[i], want)
		}
	}
	if len(w.accepted) != 3 || !core.IsID(want.ID) {
		t.Errorf("%d accepted, id %q", len(w.accepted), want.ID)
	}
}

func TestMessagesThatAreNotAccepted(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		message string
		code    core.Code // "" for none
	}{
		"no recipient here":        {message("", inBucket, "other@x.test", "unknown@x.test"), ""},
		"no recipient":             {message("", inBucket), ""},
		"domain is pending":        {message("", inBucket, "unknown@x.test", "unknown@Pending.test"), core.CodeUpstreamUnavailable},
		"domain unread":            {message("", inBucket, "unknown@down.test"), core.CodeInternalError},
		"no domain":                {message("", inBucket, "unknown"), ""},
		"router broken":            {message("", inBucket, "a@x.test", "broken@x.test"), core.CodeInternalError},
		"no such object":           {message("", inBucket, "a@x.test"), core.CodeUpstreamUnavailable},
		"key of another message":   {message("", map[string]any{"type": "S3", "bucketName": "mail", "objectKey": "in/d6iitobk75ur44p8kdnnp7g2n801"}, "a@x.test"), core.CodeValidationFailed},
		"key of mail of Mailhelm":  {message("", map[string]any{"type": "S3", "bucketName": "mail", "objectKey": objects.RawKey(core.NewID(), "m")}, "a@x.test"), core.CodeValidationFailed},
		"object in no bucket":      {message("", map[string]any{"type": "S3", "objectKey": "in/" + sesID}, "a@x.test"), core.CodeValidationFailed},
		"no action with a message": {message("", map[string]any{"type": "Lambda", "functionArn": "arn:aws:lambda:eu-west-1:123456789012:function:f"}, "a@x.test"), core.CodeValidationFailed},
		"content not in base64":    {message("*", map[string]any{"encoding": "BASE64"}, "a@x.test"), core.CodeValidationFailed},
		"too many recipients":      {message("x", nil, strings.Split(strings.Repeat("a@x.test ", 501), " ")...), core.CodeValidationFailed},
		"long recipient":           {message("x", nil, strings.Repeat("a", 321)), core.CodeValidationFailed},
		"control character":        {message("x", nil, "a\x00@x.test"), core.CodeValidationFailed},
		"no message id":            {`{"notificationType":"Received"}`, core.CodeValidationFailed},
		"name of a part as id":     {strings.ReplaceAll(message("", inBucket, "a@x.test"), sesID, "raw.eml"), core.CodeValidationFailed},
		"sent mail":                {`{"notificationType":"Bounce"}`, core.CodeValidationFailed},
		"no JSON":                  {`{`, core.CodeValidationFailed},
	} {
		w := &world{}
		checkRefused(t, name, w, w.receive(t, tc.message), tc.code)
	}
	w := &world{broken: errors.New("no disk")}
	if err := w.receive(t, message("x", nil, "a@x.test")); !errors.Is(err, w.broken) {
		t.Errorf("an intake that fails: %v", err)
	}
	if w.broken = fmt.Errorf("full: %w", objects.ErrUnavailable); core.AsError(w.receive(t, message("x", nil, "a@x.test"))).HTTPStatus() != 503 {
		t.Error("a full disk has another status than 503")
	}
}

func checkRefused(t *testing.T, name string, w *world, err error, want core.Code) {
	t.Helper()
	if failed := core.AsError(err); (failed == nil) != (want == "") || failed != nil && failed.Code != want || len(w.accepted) != 0 {
		t.Errorf("%s: %v, want %q, accepted %v", name, err, want, w.accepted)
	}
}

// closing notes that it was closed.
type closing struct {
	io.Reader
	closed *bool
}

func (c closing) Close() error { *c.closed = true; return nil }

// TestBuckets checks objects that cannot be accepted, and that each is closed. SNS must repeat
// those that can be accepted later.
func TestBuckets(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", ses.MaxMessage+1)
	cut := func() io.Reader {
		return io.MultiReader(strings.NewReader("head"), iotest.ErrReader(&objects.Failure{Cause: objects.TimedOut}))
	}
	for name, tc := range map[string]struct {
		body   io.Reader
		size   int64
		sealed bool
		err    error
		want   core.Code
	}{
		"not proven":         {err: core.NotFound("bucket"), want: core.CodeUpstreamUnavailable},
		"may not be read":    {err: core.Invalid("key", "is not allowed"), want: core.CodeValidationFailed},
		"does not answer":    {err: &objects.Failure{Cause: objects.NotConnected}, want: core.CodeUpstreamUnavailable},
		"other failure":      {err: errors.New("no database"), want: core.CodeInternalError},
		"cut":                {body: cut(), size: 100, want: core.CodeUpstreamUnavailable},
		"encrypted":          {body: strings.NewReader("x"), size: 1, sealed: true, want: core.CodeValidationFailed},
		"over 40 MB":         {body: iotest.ErrReader(errors.New("was read")), size: ses.MaxMessage + 1, want: core.CodeValidationFailed},
		"unknown over 40 MB": {body: strings.NewReader(large), size: -1, want: core.CodeValidationFailed},
	} {
		closed := false
		w := &world{opens: func() (objects.Deposit, error) {
			return objects.Deposit{Body: closing{tc.body, &closed}, Size: tc.size, Encrypted: tc.sealed}, tc.err
		}}
		checkRefused(t, name, w, w.receive(t, message("", inBucket, "a@x.test")), tc.want)
		if closed != (tc.err == nil) {
			t.Errorf("%s: closed %t", name, closed)
		}
	}
}

// TestRepeatedNotification opens and accepts a message once, also while it is being accepted:
// SNS gives up waiting and repeats the notification before a slow bucket has answered.
func TestRepeatedNotification(t *testing.T) {
	t.Parallel()
	opened, release := make(chan struct{}, 10), make(chan struct{})
	w := &world{opens: func() (objects.Deposit, error) {
		opened <- struct{}{}
		<-release
		return objects.Deposit{Body: io.NopCloser(strings.NewReader("raw")), Size: 3}, nil
	}}
	r, text := w.receiver(), []byte(message("", inBucket, "a@x.test"))
	impatient, give := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() { first <- r.Receive(impatient, org, text) }()
	<-opened
	give()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("a request that ended: %v", err)
	}
	second := make(chan error, 1)
	go func() { second <- r.Receive(t.Context(), org, text) }()
	close(release)
	if err := <-second; err != nil {
		t.Error(err)
	}
	if err := r.Receive(t.Context(), org, text); err != nil {
		t.Error(err)
	}
	if len(w.accepted) != 1 || len(opened) != 0 {
		t.Errorf("accepted %d times, opened %d more times", len(w.accepted), len(opened))
	}
	if err := w.receive(t, string(text)); err != nil || len(w.accepted) != 2 || w.accepted[0].ID != w.accepted[1].ID {
		t.Errorf("in another process: %v, accepted %+v", err, w.accepted)
	}
	if err := r.Receive(t.Context(), other, text); err != nil || len(w.accepted) != 2 {
		t.Errorf("by another organization: %v, accepted %+v", err, w.accepted)
	}
}

// TestSlowOrganization fills the slots of an organization with a bucket that does not answer.
// Another organization receives nevertheless.
func TestSlowOrganization(t *testing.T) {
	t.Parallel()
	opened, release := make(chan struct{}), make(chan struct{})
	w := &world{opens: func() (objects.Deposit, error) {
		opened <- struct{}{}
		<-release
		return objects.Deposit{}, &objects.Failure{Cause: objects.TimedOut}
	}}
	r := w.receiver()
	ended := make(chan error)
	const waiting = 20
	for i := range waiting {
		text := strings.ReplaceAll(message("", inBucket, "a@x.test"), sesID, fmt.Sprintf("%s%d", sesID, i))
		go func() { ended <- r.Receive(t.Context(), org, []byte(text)) }()
	}
	for range 16 {
		<-opened
	}
	if err := r.Receive(t.Context(), other, []byte(message("raw", nil, "other@x.test"))); err != nil || len(w.accepted) != 1 {
		t.Errorf("another organization: %v", err)
	}
	close(release)
	for range waiting - 16 {
		<-opened
	}
	for range waiting {
		if err := <-ended; core.AsError(err).Code != core.CodeUpstreamUnavailable {
			t.Error(err)
		}
	}
}

// TestPanic turns a panic behind a notification into an error.
func TestPanic(t *testing.T) {
	t.Parallel()
	w := &world{opens: func() (objects.Deposit, error) { panic("no bucket") }}
	checkRefused(t, "panic", w, w.receive(t, message("", inBucket, "a@x.test")), core.CodeInternalError)
}

func TestIsReceived(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		message("", nil): true, `{"notificationType":"Bounce"}`: false, `{"eventType":"Delivery"}`: false, `Successfully validated SNS topic`: false, `[]`: false,
	} {
		if ses.IsReceived([]byte(text)) != want {
			t.Errorf("%.60s: want %v", text, want)
		}
	}
}

func FuzzReceive(f *testing.F) {
	f.Add(message("raw", inBucket, "a@x.test"))
	f.Add(message("", inBucket, "other@x.test"))
	f.Add(`{"notificationType":"Received","mail":{"messageId":"d6iitobk75ur44p8kdnnp7g2n800"},"receipt":{"recipients":[""]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		w := &world{objects: map[string]string{"org-a mail in/" + sesID: "raw message"}}
		err := w.receive(t, text)
		if len(w.accepted) > 1 || err != nil && len(w.accepted) > 0 {
			t.Errorf("error %v, accepted %v", err, w.accepted)
		}
		for _, e := range w.accepted {
			if len(e.Routes) == 0 || !core.IsID(e.ID) || e.ReceivedAt.After(now) {
				t.Errorf("accepted %+v", e)
			}
		}
	})
}

// TestMalformedAddresses checks that a refusal names the member with the malformed address.
func TestMalformedAddresses(t *testing.T) {
	t.Parallel()
	w := &world{}
	sender := strings.Replace(message("raw", nil, "a@x.test"), `"source":"\u003c\u003e"`, `"source":"a\u0007@x.test"`, 1)
	for text, want := range map[string]string{sender: "mail.source", message("raw", nil, "a\a@x.test"): "receipt.recipients"} {
		err := w.receive(t, text)
		if fields := core.AsError(err).Fields; len(fields) != 1 || fields[0].Field != want {
			t.Errorf("%v, want a fault of %s", err, want)
		}
	}
}
