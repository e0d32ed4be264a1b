package ses

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/google/uuid"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
)

// MaxMessage is the largest message that Amazon SES receives, in bytes.
const MaxMessage = 40 << 20

// Buckets opens objects that Amazon SES has stored.
type Buckets interface {
	// OpenReceived returns the content of an object in the bucket of an organization. It fails
	// with not_found if the organization has no such bucket, or the bucket no such object.
	OpenReceived(ctx context.Context, orgID, bucket, key string) (io.ReadCloser, error)
}

// Receiver takes notifications. All fields are required.
type Receiver struct {
	Router  inbound.Router
	Intake  inbound.Intake
	Buckets Buckets
	Clock   core.Clock
	Log     *slog.Logger
}

// IsReceived reports whether an SNS message is a notification of received mail; see the function
// of the same name.
func (Receiver) IsReceived(message []byte) bool { return IsReceived(message) }

// Receive accepts the message that a notification is about. It returns nil when the message is
// durable, and also when none of its recipients has a route in the organization: SES receives
// whole domains, so mail to unknown addresses is usual. It fails with core.CodeValidationFailed
// for a notification that can never be accepted.
func (r Receiver) Receive(ctx context.Context, orgID string, message []byte) error {
	n, err := read(message)
	if err != nil {
		return err
	}
	routes, err := r.routes(ctx, orgID, n.Receipt.Recipients)
	if err != nil {
		return err
	}
	if len(routes) == 0 {
		r.Log.InfoContext(ctx, "mail received by Amazon SES has no recipient here", "org_id", orgID, "ses_message_id", n.Mail.MessageID)
		return nil
	}
	body, err := r.open(ctx, orgID, n)
	if err != nil {
		return err
	}
	defer body.Close()
	return r.Intake.Accept(ctx, inbound.Envelope{
		ID: idOf(orgID, n.Mail.MessageID), Sender: senderOf(n.Mail.Source), Routes: routes, Judged: n.verdicts(), ReceivedAt: n.receivedAt(r.Clock()),
	}, &limited{body, MaxMessage})
}

// routes returns the routes of the recipients in the organization. Others are left out: the
// account of one organization receives no mail for another.
func (r Receiver) routes(ctx context.Context, orgID string, recipients []string) ([]inbound.Route, error) {
	var routes []inbound.Route
	seen := map[string]bool{}
	for _, address := range recipients {
		if seen[address] {
			continue
		}
		seen[address] = true
		route, refusal, err := r.Router.Route(ctx, address)
		if err != nil {
			return nil, fmt.Errorf("inbound: route of a recipient: %w", err)
		}
		if refusal == inbound.Accepted && route.OrgID == orgID {
			routes = append(routes, route)
		}
	}
	return routes, nil
}

// open returns the message, from the notification or from the bucket.
func (r Receiver) open(ctx context.Context, orgID string, n notification) (io.ReadCloser, error) {
	if n.Content != "" {
		content, err := n.inline()
		return io.NopCloser(bytes.NewReader(content)), err
	}
	if n.Receipt.Action.Bucket == "" || n.Receipt.Action.ObjectKey == "" {
		return nil, core.Invalid("receipt.action", "must name the bucket and the object with the message: use an S3 action in the receipt rule")
	}
	body, err := r.Buckets.OpenReceived(ctx, orgID, n.Receipt.Action.Bucket, n.Receipt.Action.ObjectKey)
	if err != nil {
		return nil, fmt.Errorf("inbound: message in the bucket: %w", err)
	}
	return body, nil
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
