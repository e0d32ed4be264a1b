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

// Config configures a Publisher. Outbox and Client are required.
type Config struct {
	// Outbox has the events to deliver.
	Outbox *simulator.Outbox
	// Client posts notifications to endpoints. With inprocess.Transport, it calls a handler
	// in this process instead.
	Client *http.Client
	// Clock gives the times of notifications and of the certificate; nil means
	// core.SystemClock.
	Clock core.Clock
	// SignatureVersion is the version of SNS signatures: 1 (SHA-1) or 2 (SHA-256); zero
	// means 2.
	SignatureVersion int
}

// Subscription names an endpoint that receives the notifications of a topic.
type Subscription struct {
	TopicARN string
	Endpoint string // an http or https URL
}

// Publisher signs notifications and posts them to endpoints. It generates its key when the
// key is first needed, and keeps it in memory. It is safe for concurrent use.
type Publisher struct {
	cfg Config
	// identity generates the signing key and its certificate at the first call. It does not
	// run at the start, because it is slow and most processes deliver nothing.
	identity func() (identity, error)

	mu     sync.Mutex
	tokens map[string]Subscription // issued and not used yet
	taken  map[Subscription]bool   // confirmed
}

// ErrUnconfirmed is the error of Publish and Deliver for an endpoint that has not confirmed
// its subscription.
var ErrUnconfirmed = errors.New("notify: the endpoint has not confirmed its subscription")

// ErrNotMine is the error for a certificate URL or a confirmation link that this Publisher
// has not issued.
var ErrNotMine = errors.New("notify: the address is not the publisher's")

// New returns a Publisher with its own key and certificate. It fails for an unknown
// signature version.
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

// Subscribe posts a notification that asks the endpoint to confirm the subscription. Call
// IsConfirmed for the result: an endpoint may respond first and confirm later.
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

// IsConfirmed reports whether the endpoint has confirmed the subscription by opening the
// link of the notification.
func (p *Publisher) IsConfirmed(s Subscription) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken[s]
}

// Publish posts one notification. The message is an event record as JSON, or plain text.
// It fails with ErrUnconfirmed if the endpoint has not confirmed its subscription, and
// with *Refusal for a status other than 2xx.
func (p *Publisher) Publish(ctx context.Context, s Subscription, message string) error {
	if !p.IsConfirmed(s) {
		return ErrUnconfirmed
	}
	m := p.message("Notification", s, message)
	m.Subject = "Amazon SES Email Event Notification"
	m.UnsubscribeURL = p.unsubscribeURL(s)
	return p.post(ctx, s, m)
}

// Deliver posts at most limit due events of an organization to the endpoint. It returns how
// many the endpoint accepted. Like SNS, it drops an event after a status of 400 to 499
// other than 408 and 429. After any other failure it stops. This event and the following
// events are then posted by a later call.
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
	return taken, errors.Join(err, p.cfg.Outbox.RemoveDelivered(context.WithoutCancel(ctx), orgID, over...))
}
