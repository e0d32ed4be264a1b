package ses_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
)

// wantFailure fails the test unless err is a *sending.Failure of this kind. It also fails
// the test if the API error for it contains text of SES.
func wantFailure(t *testing.T, what string, err error, kind sending.FailureKind) {
	t.Helper()
	if f, ok := errors.AsType[*sending.Failure](err); !ok || f.Kind != kind {
		t.Errorf("%s: %v, want %s", what, err, kind)
	}
	shown, jsonErr := json.Marshal(core.ProblemOf(sending.Unavailable(err), "", ""))
	if jsonErr != nil || strings.Contains(string(shown), hidden) {
		t.Errorf("%s shows callers %s (%v)", what, shown, jsonErr)
	}
}

// retryAfter returns the RetryAfter of a *sending.Failure, or -1 for another error.
func retryAfter(err error) time.Duration {
	if f, ok := errors.AsType[*sending.Failure](err); ok {
		return f.RetryAfter
	}
	return -1
}

func TestProvidersErrorsHaveKinds(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]struct {
		status int
		kind   sending.FailureKind
	}{
		"NotFoundException":                  {404, sending.NotFound},
		"TooManyRequestsException":           {429, sending.Throttled},
		"LimitExceededException":             {400, sending.Throttled},
		"BadRequestException":                {400, sending.Invalid},
		"InvalidNextTokenException":          {400, sending.Invalid},
		"ConflictException":                  {409, sending.Invalid},
		"AccountSuspendedException":          {400, sending.Rejected},
		"SendingPausedException":             {400, sending.Rejected},
		"MailFromDomainNotVerifiedException": {400, sending.Rejected},
		"MessageRejected":                    {400, sending.Rejected},
		"AccessDeniedException":              {403, sending.Refused},
		"UnrecognizedClientException":        {403, sending.Refused},
		"SignatureDoesNotMatch":              {403, sending.Refused},
		"ExpiredTokenException":              {403, sending.Refused},
		"InternalServiceErrorException":      {500, sending.Refused},
		"NobodyKnowsException":               {418, sending.Refused},
		"UnknownThrottling":                  {429, sending.Throttled},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.handle(getAccount, refuse(want.status, code))
			_, err := open(t, config(p)).Overview(t.Context(), "org")
			wantFailure(t, code, err, want.kind)
		})
	}
}

func TestThrottlingSaysHowLong(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{"7": 7 * time.Second, "": 0, "soon": 0, "-1": 0, "999999999": 0} {
		p := newProvider(t)
		p.handle(getAccount, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", header)
			refuse(429, "TooManyRequestsException")(w, r)
		})
		_, err := open(t, config(p)).Overview(t.Context(), "org")
		wantFailure(t, header, err, sending.Throttled)
		if got := retryAfter(err); got != want {
			t.Errorf("Retry-After %q makes %v, want %v", header, got, want)
		}
	}
}

func TestInvalidAnswersOfTheProvider(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"not JSON":      respondWith(`<html>` + hidden),
		"half of it":    respondWith(`{"SendQuota":{"Max24HourSend":`),
		"another type":  respondWith(`{"SendQuota":{"Max24HourSend":"many"}}`),
		"no error body": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"endless": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"x":"`+strings.Repeat("x", 9<<20)+`"}`)
		},
		"a redirect": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			p.handle(getAccount, answer)
			_, err := open(t, config(p)).Overview(t.Context(), "org")
			wantFailure(t, name, err, sending.Refused)
		})
	}
}

// TestRetriesAreAtOneLayer checks that a failed read is tried twice and that a message is
// sent to SES only once.
func TestRetriesAreAtOneLayer(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, answerInTurn(refuse(503, ""), respondWith(`{"SendingEnabled":true}`)))
	a := open(t, config(p))
	if o, err := a.Overview(t.Context(), "org"); err != nil || !o.SendingEnabled {
		t.Errorf("the second try: %+v, %v", o, err)
	}
	p.handle(getAccount, refuse(429, "TooManyRequestsException"))
	before := p.count(getAccount)
	_, err := a.Overview(t.Context(), "org")
	wantFailure(t, "throttled twice", err, sending.Throttled)
	if n := p.count(getAccount) - before; n != 2 {
		t.Errorf("a read was tried %d times, want 2", n)
	}

	for name, answer := range map[string]struct {
		http.HandlerFunc
		kind sending.FailureKind
	}{
		"throttled":        {refuse(429, "TooManyRequestsException"), sending.Throttled},
		"rejected":         {refuse(400, "MessageRejected"), sending.Rejected},
		"refused":          {refuse(403, "AccessDeniedException"), sending.Refused},
		"a failure inside": {refuse(500, "InternalServiceErrorException"), sending.TimedOut},
		"half an answer":   {respondWith(`{"MessageId":`), sending.TimedOut},
		"unavailable":      {refuse(503, ""), sending.TimedOut},
	} {
		p.handle(sendEmail, answer.HandlerFunc)
		p.handle(sendBulk, answer.HandlerFunc)
		sends, bulks := p.count(sendEmail), p.count(sendBulk)
		_, err := a.Send(t.Context(), "org", message())
		wantFailure(t, name, err, answer.kind)
		_, err = a.SendBulk(t.Context(), "org", bulk(2))
		wantFailure(t, name+" in bulk", err, answer.kind)
		if sends, bulks := p.count(sendEmail)-sends, p.count(sendBulk)-bulks; sends != 1 || bulks != 1 {
			t.Errorf("%s: handed over %d and %d times, want once", name, sends, bulks)
		}
	}
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	c := config(p)
	c.CallTimeout = 10 * time.Millisecond
	_, err := open(t, c).Overview(t.Context(), "org")
	wantFailure(t, "no answer", err, sending.TimedOut)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the cause is %v", err)
	}
}

// lost is an HTTP transport that fails every request as if the connection broke.
type lost struct{}

func (lost) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }

func TestBrokenConnections(t *testing.T) {
	t.Parallel()
	c := config(newProvider(t))
	c.HTTPClient = &http.Client{Transport: lost{}}
	a := open(t, c)
	_, err := a.Overview(t.Context(), "org")
	wantFailure(t, "a read", err, sending.Refused)
	_, err = a.Send(t.Context(), "org", message())
	wantFailure(t, "a message", err, sending.TimedOut)

	c = config(newProvider(t))
	c.HTTPClient, c.Endpoint = nil, "http://127.0.0.1:1"
	_, err = open(t, c).Send(t.Context(), "org", message())
	wantFailure(t, "a message that went nowhere", err, sending.Refused)
}

// TestClientFollowsNoRedirects checks that the client follows no redirects, because a
// signed request is for one host only.
func TestClientFollowsNoRedirects(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example/v2/email/other", http.StatusFound)
	})
	_, err := open(t, config(p)).Overview(t.Context(), "org")
	wantFailure(t, "an answer that leads elsewhere", err, sending.Refused)
	if calls := p.recordedCalls(); len(calls) != p.count(getAccount) {
		t.Errorf("asked for %+v", calls)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*ses.Config){
		"no region":             func(c *ses.Config) { c.Region = "" },
		"a region that is none": func(c *ses.Config) { c.Region = "evil.example.com/" },
		"no key":                func(c *ses.Config) { c.Credentials.AccessKeyID = "" },
		"no secret":             func(c *ses.Config) { c.Credentials.Secret = "" },
		"a role that is none":   func(c *ses.Config) { c.RoleARN = "admin" },
	} {
		c := config(newProvider(t))
		spoil(&c)
		if _, err := ses.New(c); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
