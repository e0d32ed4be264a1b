package ses

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/cache"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/outbound"
	"golang.org/x/sync/singleflight"
)

// MaxMessage is the largest message that Amazon SES receives, in bytes.
const MaxMessage = 40 << 20

// Buckets opens objects that Amazon SES has stored.
type Buckets interface {
	// Open returns an object in the bucket of an organization. It fails with not_found if the
	// organization has no such bucket, or the bucket no such object; with
	// core.CodeValidationFailed for a key that may not be read; and with objects.ErrUnavailable
	// if the bucket does not answer.
	Open(ctx context.Context, orgID, bucket, key string) (objects.Deposit, error)
}

// Domains knows receiving domains that have no route yet.
type Domains interface {
	// IsRecorded reports whether the organization has recorded a domain, verified or not. The
	// name is in lower case.
	IsRecorded(ctx context.Context, orgID, domain string) (bool, error)
}

// Config configures a [Receiver]. All fields are required.
type Config struct {
	Router  inbound.Router
	Domains Domains
	Intake  inbound.Intake
	Buckets Buckets
	Clock   core.Clock
	Log     *slog.Logger
}

const (
	// acceptTime is the time in which a message must be accepted. SNS waits for 15 seconds only
	// and then sends the notification again, so a slow message is accepted without its request.
	acceptTime = 2 * time.Minute
	// rememberedFor is how long the id of an accepted message is remembered. SNS sends a
	// notification again for an hour at most.
	rememberedFor = 65 * time.Minute
	rememberedIDs = 100_000
	// retryAfter is when a notification should come again that could not be accepted.
	retryAfter = 20 * time.Second
)

// Receiver takes notifications. It is safe for concurrent use.
type Receiver struct {
	cfg     Config
	flights singleflight.Group
	slots   *outbound.Slots
	// accepted has the ids of messages that this process accepted, so that a repeated
	// notification costs nothing. Destinations ignore a message that another process accepted.
	accepted *cache.Cache[string, struct{}]
}

// New returns a Receiver.
func New(cfg Config) *Receiver {
	return &Receiver{cfg: cfg, slots: outbound.NewSlots(slotLimits), accepted: cache.New[string, struct{}](rememberedIDs)}
}

// IsReceived reports whether an SNS message is a notification of received mail; see the function
// of the same name.
func (*Receiver) IsReceived(message []byte) bool { return IsReceived(message) }

// Receive accepts the message that a notification is about. It returns nil when the message is
// durable, and also when none of its recipients has a route in the organization: a receipt rule
// can be for other domains too, and addresses of inboxes can be unknown.
//
// It fails with core.CodeValidationFailed for a notification that can never be accepted. It fails
// with core.CodeUpstreamUnavailable if the bucket is not one of the organization, has no such
// object or does not answer, or if the receiving domain is not verified yet: a person may correct
// that before SNS gives up. If ctx ends first, Receive returns its error, and the message may still
// be accepted.
func (r *Receiver) Receive(ctx context.Context, orgID string, message []byte) error {
	n, err := read(message)
	if err != nil {
		return err
	}
	id := idOf(orgID, n.Mail.MessageID)
	done := r.flights.DoChan(id, func() (_ any, err error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptTime)
		defer cancel()
		defer func() { // a panic here would end the process, because it is not in the request's goroutine
			if v := recover(); v != nil {
				err = errors.New(core.PanicText(v))
			}
		}()
		return nil, r.accept(ctx, orgID, id, n)
	})
	select {
	case result := <-done:
		return result.Err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// accept accepts a message, unless this process did so before.
func (r *Receiver) accept(ctx context.Context, orgID, id string, n notification) error {
	if _, known := r.accepted.Get(id, r.cfg.Clock()); known {
		return nil
	}
	routes, err := r.routes(ctx, orgID, n.Receipt.Recipients)
	if err != nil {
		return err
	}
	if len(routes) == 0 {
		if err := r.expect(ctx, orgID, n.Receipt.Recipients); err != nil {
			return err
		}
		r.cfg.Log.InfoContext(ctx, "mail received by Amazon SES has no recipient here", "org_id", orgID, "ses_message_id", n.Mail.MessageID)
		return nil
	}
	leave, ok := r.slots.Enter(ctx, orgID)
	if !ok {
		return &core.Error{
			Code: core.CodeUpstreamUnavailable, Message: "Too many messages are being received.", Next: "Send the notification again, as Amazon SNS does.",
			RetryAfter: retryAfter, Err: errBusy,
		}
	}
	defer leave()
	body, err := r.open(ctx, orgID, n)
	if err != nil {
		return err
	}
	defer body.Close()
	err = r.cfg.Intake.Accept(ctx, inbound.Envelope{
		ID: id, Sender: senderOf(n.Mail.Source), Routes: routes, Judged: n.verdicts(), ReceivedAt: n.receivedAt(r.cfg.Clock()),
	}, &limited{body, MaxMessage})
	switch {
	case errors.Is(err, errTooLarge):
		return tooLarge()
	case errors.Is(err, objects.ErrUnavailable), err != nil && ctx.Err() != nil:
		return later("The message could not be read from the bucket or stored in time.", err)
	case err != nil:
		return err
	}
	r.accepted.Put(id, struct{}{}, r.cfg.Clock().Add(rememberedFor), r.accepted.Epoch())
	return nil
}

// routes returns the routes of the recipients in the organization. Others are left out: the
// account of one organization receives no mail for another.
func (r *Receiver) routes(ctx context.Context, orgID string, recipients []string) ([]inbound.Route, error) {
	var routes []inbound.Route
	seen := map[string]bool{}
	for _, address := range recipients {
		if seen[address] {
			continue
		}
		seen[address] = true
		route, refusal, err := r.cfg.Router.Route(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("inbound: route of a recipient: %w", err)
		}
		if refusal == inbound.Accepted && route.OrgID == orgID {
			routes = append(routes, route)
		}
	}
	return routes, nil
}

// expect fails if a recipient is at a domain that the organization has recorded, but that has no
// route: its records are not found yet, or this process does not know yet that they are. SES may
// already receive its mail, and a later notification finds the route.
func (r *Receiver) expect(ctx context.Context, orgID string, recipients []string) error {
	asked := map[string]bool{}
	for _, address := range recipients {
		domain := strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
		if asked[domain] {
			continue
		}
		asked[domain] = true
		if recorded, err := r.cfg.Domains.IsRecorded(ctx, orgID, domain); err != nil {
			return fmt.Errorf("inbound: domain of a recipient: %w", err)
		} else if recorded {
			return &core.Error{
				Code: core.CodeUpstreamUnavailable, Message: "The receiving domain " + core.Quote(domain) + " is not verified yet, or was verified a moment ago.",
				Next: "Publish the DNS records of the domain, and check them.", RetryAfter: retryAfter,
			}
		}
	}
	return nil
}

// open returns the message, from the notification or from the bucket.
func (r *Receiver) open(ctx context.Context, orgID string, n notification) (io.ReadCloser, error) {
	if n.Content != "" {
		content, err := n.inline()
		return io.NopCloser(bytes.NewReader(content)), err
	}
	bucket, key, err := n.object()
	if err != nil {
		return nil, err
	}
	found, err := r.cfg.Buckets.Open(ctx, orgID, bucket, key)
	switch {
	case core.IsNotFound(err):
		return nil, later("The message is not in a bucket that the organization uses for received mail, or the bucket has no such object.", err)
	case errors.Is(err, objects.ErrUnavailable):
		return nil, later("The bucket with the message does not answer or refuses the access key.", err)
	case err != nil:
		return nil, err
	}
	switch {
	case found.Encrypted:
		err = core.Invalid("receipt.action", "must store messages without message encryption: turn it off in the S3 action, and use the encryption of the bucket")
	case found.Size > MaxMessage:
		err = tooLarge()
	}
	if err != nil {
		_ = found.Body.Close()
		return nil, err
	}
	return found.Body, nil
}

// later returns the error for a message whose bucket prevents that it is accepted now. Its status
// 503 makes SNS send the notification again.
func later(why string, err error) *core.Error {
	return &core.Error{Code: core.CodeUpstreamUnavailable, Message: why, Next: "Compare the bucket of the receipt rule with the mail storage of the organization, and test that.", RetryAfter: retryAfter, Err: err}
}

func tooLarge() *core.Error {
	return core.Invalid("receipt.action.objectKey", "must name a message of at most 40 MB")
}

// idOf returns the id of a message, which is the same for each notification of it.
func idOf(orgID, sesID string) string {
	return uuid.NewHash(sha256.New(), uuid.Nil, []byte("received by SES\x00"+orgID+"\x00"+sesID), 8).String()
}

// senderOf returns the envelope sender. SES writes "<>" for the null sender.
func senderOf(source string) string {
	if source == "<>" {
		return ""
	}
	return source
}

// slotLimits limit how many messages are accepted at the same time, in all and of one
// organization, whose bucket may be slow. Each waits for acceptTime at most. A notification that
// waits may hold a message of 150 KB; SNS sends one that finds no place again.
var slotLimits = outbound.SlotLimits{All: 128, PerHost: 16, Waiting: 2000}

var errBusy = errors.New("inbound: no message could be accepted in time")

// errTooLarge is the error for a message that SES would not have received.
var errTooLarge = errors.New("inbound: the message in the bucket is larger than 40 MB")

// limited fails when more than left bytes are read.
type limited struct {
	io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLarge
	}
	return n, err
}
