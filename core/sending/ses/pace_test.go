package ses_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
)

// shortDeadline returns a Config with a short deadline, so that a message fails if it would
// have to wait for the send rate.
func shortDeadline(p *provider) ses.Config {
	c := config(p)
	c.CallTimeout = 200 * time.Millisecond
	return c
}

// TestManyWhoSendAtOnceKeepTheRate checks that concurrent senders wait for the first read
// of the send rate and then stay below it.
func TestManyWhoSendAtOnceKeepTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t)
		release := make(chan struct{})
		p.handle(getAccount, func(w http.ResponseWriter, r *http.Request) {
			<-release
			respondWith(`{"SendQuota":{"MaxSendRate":3}}`)(w, r)
		})
		p.handle(sendEmail, respondWith(`{"MessageId":"m"}`))
		a := open(t, shortDeadline(p))
		var taken, throttled atomic.Int64
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				switch _, err := a.Send(t.Context(), "org", message()); {
				case err == nil:
					taken.Add(1)
				case retryAfter(err) > 0:
					throttled.Add(1)
				default:
					t.Errorf("failed with %v", err)
				}
			})
		}
		synctest.Wait() // waits until all senders wait for the first read of the rate
		close(release)
		all.Wait()
		if n := int(taken.Load()); n != 1 || p.count(sendEmail) != n || throttled.Load() != 19 || p.count(getAccount) != 1 {
			t.Errorf("%d of 20 taken in a fifth of a second at 3 a second, %d throttled, %d handed over, the rate read %d times",
				n, throttled.Load(), p.count(sendEmail), p.count(getAccount))
		}
	})
}

// TestTheRateIsReadAgain checks that the send rate is read again after ten minutes, and
// that the old rate applies until then.
func TestTheRateIsReadAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t)
		p.handle(getAccount, answerInTurn(respondWith(`{"SendQuota":{"MaxSendRate":1}}`), respondWith(`{"SendQuota":{"MaxSendRate":100}}`)))
		p.handle(sendEmail, respondWith(`{"MessageId":"m"}`))
		a := open(t, shortDeadline(p))
		send := func() error { _, err := a.Send(t.Context(), "org", message()); return err }
		if err := send(); err != nil {
			t.Fatal(err)
		}
		wantFailure(t, "two in a second", send(), sending.Throttled)
		<-time.After(9 * time.Minute) // virtual time
		if err := send(); err != nil || p.count(getAccount) != 1 {
			t.Fatalf("%v, the rate read %d times in 9 minutes", err, p.count(getAccount))
		}
		<-time.After(time.Minute)
		for range 20 {
			if err := send(); err != nil {
				t.Fatal(err)
			}
		}
		if n := p.count(getAccount); n != 2 {
			t.Errorf("the rate was read %d times in 10 minutes", n)
		}
	})
}

// TestTheRateIsTheAccounts checks that connections with the same credentials share one send
// rate, and that a reopened connection keeps it. Connections with other credentials are not
// slowed down.
func TestTheRateIsTheAccounts(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, respondWith(`{"SendQuota":{"MaxSendRate":1}}`))
	p.handle(sendEmail, respondWith(`{"MessageId":"m"}`))
	opener := ses.Open(shortDeadline(p))
	send := func(c sending.Connection) error {
		t.Helper()
		a, err := opener(c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Send(t.Context(), c.OrgID, message())
		return err
	}
	one := sending.Connection{OrgID: "one", AccountID: "1", Region: "eu-west-1", AccessKeyID: "KEY", Secret: "secret"}
	two := one
	two.OrgID, two.AccountID = "two", "2"
	if err := send(one); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, "a connection opened anew", send(one), sending.Throttled)
	wantFailure(t, "another organization with the same key", send(two), sending.Throttled)
	for what, spoil := range map[string]func(*sending.Connection){
		"another secret": func(c *sending.Connection) { c.Secret = "guessed" },
		"another key":    func(c *sending.Connection) { c.AccessKeyID = "OTHER" },
		"another region": func(c *sending.Connection) { c.Region = "eu-west-2" },
	} {
		stranger := one
		spoil(&stranger)
		if err := send(stranger); err != nil {
			t.Errorf("%s is slowed down by an account that it cannot reach: %v", what, err)
		}
	}
}

// TestUnreadableSendRates checks that messages are sent if the send rate cannot be read,
// and that a canceled read does not count as a known rate. It also checks a rate of half a
// message per second.
func TestUnreadableSendRates(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, refuse(403, "AccessDeniedException"))
	p.handle(sendEmail, respondWith(`{"MessageId":"m"}`))
	a := open(t, shortDeadline(p))
	for range 5 {
		if _, err := a.Send(t.Context(), "org", message()); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.count(getAccount); n != 1 {
		t.Errorf("the rate was asked for %d times at once", n)
	}
	p.handle(getAccount, respondWith(`{"SendQuota":{"MaxSendRate":0.5}}`))
	if _, err := a.Overview(t.Context(), "org"); err != nil {
		t.Fatal(err)
	}
	_, _ = a.Send(t.Context(), "org", message())
	_, err := a.Send(t.Context(), "org", message())
	wantFailure(t, "a second message in two seconds", err, sending.Throttled)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	p = newProvider(t)
	p.handle(getAccount, respondWith(`{"SendQuota":{"MaxSendRate":1}}`))
	p.handle(sendEmail, respondWith(`{"MessageId":"m"}`))
	a = open(t, shortDeadline(p))
	_, err = a.Send(ended, "org", message())
	wantFailure(t, "a caller who has left", err, sending.TimedOut)
	if _, err = a.Send(t.Context(), "org", message()); err != nil {
		t.Fatal(err)
	}
	_, err = a.Send(t.Context(), "org", message())
	wantFailure(t, "a caller who has left took the rate along", err, sending.Throttled)
}

// TestARateThatNeverComesHoldsNothingUp checks that messages are sent if SES does not
// answer the request for the send rate. The rate is requested again after ten seconds.
func TestARateThatNeverComesHoldsNothingUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t)
		p.handle(getAccount, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		p.handle(sendEmail, respondWith(`{"MessageId":"m"}`))
		a := open(t, config(p))
		for range 3 {
			if _, err := a.Send(t.Context(), "org", message()); err != nil {
				t.Fatal(err)
			}
		}
		if n := p.count(getAccount); n != 1 {
			t.Errorf("the rate was asked for %d times at once", n)
		}
		<-time.After(10 * time.Second)
		if _, err := a.Send(t.Context(), "org", message()); err != nil || p.count(getAccount) != 2 {
			t.Errorf("%v, the rate was asked for %d times in 10 seconds", err, p.count(getAccount))
		}
	})
}
