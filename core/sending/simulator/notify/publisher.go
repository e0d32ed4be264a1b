package notify

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// Config configures a publisher. Outbox and Client are required.
type Config struct {
	// Outbox has the events to deliver.
	Outbox *simulator.Outbox
	// Client posts to endpoints. With inprocess.Transport it needs no socket.
	Client *http.Client
	// Clock dates messages and the certificate; nil means core.SystemClock.
	Clock core.Clock
	// SignatureVersion is 1 (SHA-1) or 2 (SHA-256); zero means 2.
	SignatureVersion int
}

// Subscription is one endpoint of one topic.
type Subscription struct {
	TopicARN string
	Endpoint string // an http or https URL
}

// Publisher signs and delivers messages. Its key is generated for the first message and
// kept as long as the publisher. It is safe for concurrent use.
type Publisher struct {
	cfg Config
	// identity generates the key and its certificate once. It is lazy because
	// generation takes longer than the rest of the start, and most processes deliver
	// nothing.
	identity func() (identity, error)

	mu     sync.Mutex
	tokens map[string]Subscription // issued and not used yet
	taken  map[Subscription]bool   // confirmed
}

// ErrUnconfirmed is the error of a delivery to an endpoint that has not confirmed its
// subscription.
var ErrUnconfirmed = errors.New("notify: the endpoint has not confirmed its subscription")

// ErrNotMine is the error for an address that does not belong to this publisher.
var ErrNotMine = errors.New("notify: the address is not the publisher's")

// New returns a publisher with its own key and certificate.
func New(cfg Config) (*Publisher, error) {
	if cfg.Clock == nil {
		cfg.Clock = core.SystemClock
	}
	if cfg.SignatureVersion == 0 {
		cfg.SignatureVersion = 2
	}
	if cfg.SignatureVersion != 1 && cfg.SignatureVersion != 2 {
		return nil, fmt.Errorf("notify: no signature version %d", cfg.SignatureVersion)
	}
	now := cfg.Clock()
	return &Publisher{
		cfg: cfg, tokens: map[string]Subscription{}, taken: map[Subscription]bool{},
		identity: sync.OnceValues(func() (identity, error) { return newIdentity(now) }),
	}, nil
}

// Subscribe sends the endpoint a request to confirm. Use Confirmed for the result: an
// endpoint may respond first and confirm later.
func (p *Publisher) Subscribe(ctx context.Context, s Subscription) error {
	token := strings.ToLower(rand.Text() + rand.Text())
	p.mu.Lock()
	p.tokens[token] = s
	p.mu.Unlock()
	m := p.message("SubscriptionConfirmation", s, "You have chosen to subscribe to the topic "+s.TopicARN+
		".\nTo confirm the subscription, visit the SubscribeURL included in this message.")
	m.Token, m.SubscribeURL = token, p.subscribeURL(s, token)
	return p.post(ctx, s, m)
}

// IsConfirmed reports whether the endpoint has opened the confirmation link.
func (p *Publisher) IsConfirmed(s Subscription) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken[s]
}

// Publish posts one message: an event record or plain text. It fails with
// ErrUnconfirmed before the endpoint has confirmed, and with *Refusal for a response
// other than 2xx.
func (p *Publisher) Publish(ctx context.Context, s Subscription, message string) error {
	if !p.IsConfirmed(s) {
		return ErrUnconfirmed
	}
	m := p.message("Notification", s, message)
	m.Subject = "Amazon SES Email Event Notification"
	m.UnsubscribeURL = p.unsubscribeURL(s)
	return p.post(ctx, s, m)
}

// TryOut posts the first message of a topic, which is plain text and not an event
// record.
func (p *Publisher) TryOut(ctx context.Context, s Subscription) error {
	return p.Publish(ctx, s, "Successfully validated SNS topic for Amazon SES event publishing.")
}

// Deliver posts at most limit of an organization's due events and returns how many the
// endpoint accepted. An event refused with a status of 400 to 499, other than 408 and 429, is
// dropped, as the service does. After any other failure Deliver stops; that event and
// the following ones stay due.
func (p *Publisher) Deliver(ctx context.Context, s Subscription, orgID string, limit int) (int, error) {
	if !p.IsConfirmed(s) {
		return 0, ErrUnconfirmed
	}
	due, err := p.cfg.Outbox.Due(ctx, orgID, p.cfg.Clock(), limit)
	if err != nil {
		return 0, err
	}
	taken, over := 0, make([]int64, 0, len(due))
	for _, e := range due {
		err = p.Publish(ctx, s, string(e.JSON))
		if refusal, ok := errors.AsType[*Refusal](err); ok && refusal.final() {
			over, err = append(over, e.ID), nil
			continue
		}
		if err != nil {
			break
		}
		taken, over = taken+1, append(over, e.ID)
	}
	return taken, errors.Join(err, p.cfg.Outbox.Done(context.WithoutCancel(ctx), orgID, over...))
}
