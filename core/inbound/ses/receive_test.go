package ses_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/ses"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const org, other = "org-a", "org-b"

// world routes addresses by their first letters, and notes what is accepted.
type world struct {
	objects  map[string]string
	accepted []inbound.Envelope
	bodies   []string
	broken   error
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

func (w *world) Accept(_ context.Context, e inbound.Envelope, body io.Reader) error {
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	w.accepted, w.bodies = append(w.accepted, e), append(w.bodies, string(text))
	return w.broken
}

func (w *world) OpenReceived(_ context.Context, orgID, bucket, key string) (io.ReadCloser, error) {
	text, found := w.objects[orgID+" "+bucket+" "+key]
	if !found {
		return nil, core.NotFound("object")
	}
	return io.NopCloser(strings.NewReader(text)), nil
}

func (w *world) receive(t *testing.T, message string) error {
	t.Helper()
	return ses.Receiver{
		Router: w, Intake: w, Buckets: w, Clock: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
	}.Receive(t.Context(), org, []byte(message))
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
		"mail": map[string]any{"messageId": "d6iitobk75ur44p8kdnnp7g2n800", "source": "<>"},
	})
	return string(text)
}

var inBucket = map[string]any{"type": "S3", "bucketName": "mail", "objectKey": "in/d6ii"}

func TestReceive(t *testing.T) {
	t.Parallel()
	w := &world{objects: map[string]string{"org-a mail in/d6ii": "raw message"}}
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
		code    core.Code // "" for none, "*" for an error without a code
	}{
		"no recipient here":     {message("", inBucket, "other@x.test", "unknown@x.test"), ""},
		"no recipient":          {message("", inBucket), ""},
		"router broken":         {message("", inBucket, "a@x.test", "broken@x.test"), "*"},
		"no such object":        {message("", inBucket, "a@x.test"), "*"},
		"object in no bucket":   {message("", map[string]any{"type": "Lambda"}, "a@x.test"), core.CodeValidationFailed},
		"content not in base64": {message("*", map[string]any{"encoding": "BASE64"}, "a@x.test"), core.CodeValidationFailed},
		"too many recipients":   {message("x", nil, strings.Split(strings.Repeat("a@x.test ", 101), " ")...), core.CodeValidationFailed},
		"long recipient":        {message("x", nil, strings.Repeat("a", 321)), core.CodeValidationFailed},
		"no message id":         {`{"notificationType":"Received"}`, core.CodeValidationFailed},
		"sent mail":             {`{"notificationType":"Bounce"}`, core.CodeValidationFailed},
		"no JSON":               {`{`, core.CodeValidationFailed},
	} {
		w := &world{}
		err := w.receive(t, tc.message)
		failed, isOurs := errors.AsType[*core.Error](err)
		ok := err == nil
		switch tc.code {
		case "":
		case "*":
			ok = err != nil && (!isOurs || failed.Code != core.CodeValidationFailed)
		default:
			ok = isOurs && failed.Code == tc.code
		}
		if !ok || len(w.accepted) != 0 {
			t.Errorf("%s: %v, accepted %v", name, err, w.accepted)
		}
	}
	w := &world{broken: errors.New("no disk")}
	if err := w.receive(t, message("x", nil, "a@x.test")); !errors.Is(err, w.broken) {
		t.Errorf("an intake that fails: %v", err)
	}
	w = &world{objects: map[string]string{"org-a mail in/d6ii": strings.Repeat("x", ses.MaxMessage+1)}}
	if err := w.receive(t, message("", inBucket, "a@x.test")); err == nil || len(w.accepted) != 0 {
		t.Errorf("a message over 40 MB: %v", err)
	}
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
	f.Add(`{"notificationType":"Received","mail":{"messageId":"1"},"receipt":{"recipients":[""]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		w := &world{objects: map[string]string{"org-a mail in/d6ii": "raw message"}}
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
