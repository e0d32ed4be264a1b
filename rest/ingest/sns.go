package ingest

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // signature version 1 is the default of topics
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
)

// snsTypeHeader is the header with the type of an Amazon SNS message.
const snsTypeHeader = "X-Amz-Sns-Message-Type"

// replayWindow is the maximum age of an accepted message. It is an hour, because Amazon SNS
// repeats a message for at most that time. clockSkew is how far the clock of Amazon SNS may
// be ahead.
const (
	replayWindow = time.Hour
	clockSkew    = 5 * time.Minute
)

// Publisher verifies who published a notification. [Amazon] is the implementation for
// Amazon SNS; simulated accounts have another implementation.
type Publisher interface {
	// Key returns the public key of the certificate at a URL. It fails with [ErrUntrusted]
	// if the URL or the certificate is not the publisher's. Any other error means that the
	// certificate cannot be verified now.
	Key(ctx context.Context, certificateURL string) (*rsa.PublicKey, error)
	// Confirm follows the link that confirms the subscription to a topic. It fails with
	// [ErrUntrusted] if the link is not the publisher's.
	Confirm(ctx context.Context, subscribeURL, topic string) error
}

// ErrUntrusted is the error for a certificate or a link that does not belong to the
// publisher of the messages, such as Amazon SNS.
var ErrUntrusted = errors.New("not the publisher's")

// notification is a message of Amazon SNS, as sent in a request body.
type notification struct {
	Type             string
	MessageID        string `json:"MessageId"`
	TopicARN         string `json:"TopicArn"`
	Subject          *string
	Message          string
	Timestamp        string
	Token            string
	SubscribeURL     string
	SignatureVersion string
	Signature        string
	SigningCertURL   string
}

// The types of Amazon SNS messages.
const (
	isNotification = "Notification"
	isSubscription = "SubscriptionConfirmation"
	isUnsubscribed = "UnsubscribeConfirmation"
)

// readNotification decodes an Amazon SNS message. It fails with validation_failed for any
// other body.
func readNotification(body []byte) (notification, error) {
	var n notification
	if err := json.Unmarshal(body, &n); err != nil || !utf8.Valid(body) {
		return n, core.Invalid("", "is not a message of Amazon SNS")
	}
	return n, nil
}

// takeSNS verifies an Amazon SNS message, which must be from a topic of the connection. It
// then stores the event or the received mail, confirms the subscription, or logs that the
// subscription was removed. Events of sent mail must be from the connection's own topic.
func (g *ingest) takeSNS(r *http.Request, c sending.Connection, n notification) error {
	publisher := g.publisherOf(c)
	if publisher == nil || n.Type != r.Header.Get(snsTypeHeader) {
		return g.originError("the message has no publisher of this account, or a type other than its header")
	}
	if err := g.verify(r.Context(), publisher, c, n); err != nil {
		return err
	}
	switch n.Type {
	case isSubscription:
		return g.confirm(r.Context(), publisher, c, n)
	case isUnsubscribed:
		g.cfg.Log.LogAttrs(r.Context(), slog.LevelWarn, "events are no longer sent: the topic's subscription was removed", slog.String("org_id", c.OrgID))
		g.metrics.count(isUnsubscribed, "notice", 1)
		return nil
	}
	event := []byte(n.Message)
	switch {
	case g.cfg.Mail != nil && g.cfg.Mail.IsReceived(event):
		return g.receive(r.Context(), c.OrgID, event)
	case messages.IsSESNotice(event):
	case n.TopicARN != c.TopicARN:
		return g.originError("the topic is only for received mail")
	default:
		return g.record(r.Context(), c.OrgID, event)
	}
	g.metrics.count("", "notice", 1)
	return nil
}

// publisherOf returns the publisher for the connection's provider, or nil if none is
// configured. The simulator's key is never trusted for a real account.
func (g *ingest) publisherOf(c sending.Connection) Publisher {
	if c.Provider == sending.Simulated {
		return g.cfg.Simulator
	}
	return g.cfg.Amazon
}

// verify checks the topic, the time and the signature of a message. The cheap checks come
// first, so that a stranger who knows the path cannot cause fetches of certificates.
func (g *ingest) verify(ctx context.Context, p Publisher, c sending.Connection, n notification) error {
	if !g.isTopicOf(c, n.TopicARN) {
		return g.originError("the topic is not that of the connection")
	}
	at, err := time.Parse(time.RFC3339, n.Timestamp)
	if age := g.cfg.Clock().Sub(at); err != nil || age > replayWindow || age < -clockSkew {
		return g.originError("the message was not signed within the last hour")
	}
	signature, err := base64.StdEncoding.DecodeString(n.Signature)
	text, known := n.signedText()
	if err != nil || !known {
		return g.originError("the signature is malformed, or the type of the message is unknown")
	}
	key, err := p.Key(ctx, n.SigningCertURL)
	if errors.Is(err, ErrUntrusted) {
		return g.originError(err.Error())
	}
	if err != nil {
		return g.unreachable(err)
	}
	if !isSigned(key, n.SignatureVersion, text, signature) {
		return g.originError("the signature does not match")
	}
	return nil
}

// isTopicOf reports whether a topic is that of the connection, or the one for received mail
// beside it: with the same account and name, in a region of [Config.MailRegions]. Only the owner
// of the account can create that topic.
func (g *ingest) isTopicOf(c sending.Connection, topic string) bool {
	if c.TopicARN == "" {
		return false
	}
	if subtle.ConstantTimeCompare([]byte(topic), []byte(c.TopicARN)) == 1 {
		return true
	}
	own, region := splitTopic(c.TopicARN)
	given, other := splitTopic(topic)
	return g.cfg.Mail != nil && own != "" && own == given && region != other && slices.Contains(g.cfg.MailRegions, other)
}

// splitTopic returns the ARN of a topic without its region, and the region. Both are "" for
// another text.
func splitTopic(arn string) (string, string) {
	// arn:partition:sns:region:account:name
	parts := strings.Split(arn, ":")
	if len(parts) != 6 || parts[0] != "arn" || parts[2] != "sns" || parts[3] == "" || parts[4] == "" || parts[5] == "" {
		return "", ""
	}
	return strings.Join([]string{parts[0], parts[1], parts[2], parts[4], parts[5]}, ":"), parts[3]
}

// unreachable returns the error for a message that cannot be verified now, with status 503.
// The publisher then repeats the message.
func (g *ingest) unreachable(err error) error {
	return g.failure(&core.Error{
		Code: core.CodeUpstreamUnavailable, Message: "The publisher of the message could not be reached to check it.",
		RetryAfter: 10 * time.Second, Err: err,
	})
}

// signedText returns the text that the publisher signs: the names and values of the members
// that Amazon SNS specifies, in alphabetical order. It returns false for an unknown type of
// message.
func (n notification) signedText() ([]byte, bool) {
	members := [][2]string{{"Message", n.Message}, {"MessageId", n.MessageID}}
	switch n.Type {
	case isNotification:
		if n.Subject != nil {
			members = append(members, [2]string{"Subject", *n.Subject})
		}
		members = append(members, [2]string{"Timestamp", n.Timestamp})
	case isSubscription, isUnsubscribed:
		members = append(members, [2]string{"SubscribeURL", n.SubscribeURL}, [2]string{"Timestamp", n.Timestamp}, [2]string{"Token", n.Token})
	default:
		return nil, false
	}
	var text strings.Builder
	for _, m := range append(members, [2]string{"TopicArn", n.TopicARN}, [2]string{"Type", n.Type}) {
		text.WriteString(m[0] + "\n" + m[1] + "\n")
	}
	return []byte(text.String()), true
}

// isSigned reports whether the signature of the text is valid for the key. Signature
// version 1 uses SHA-1, version 2 SHA-256; any other version is invalid.
func isSigned(key *rsa.PublicKey, version string, text, signature []byte) bool {
	switch version {
	case "1":
		sum := sha1.Sum(text) //nolint:gosec // see the import
		return rsa.VerifyPKCS1v15(key, crypto.SHA1, sum[:], signature) == nil
	case "2":
		sum := sha256.Sum256(text)
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], signature) == nil
	}
	return false
}

// confirm confirms the subscription to the Amazon SNS topic of the verified message n, by
// following its link.
func (g *ingest) confirm(ctx context.Context, p Publisher, c sending.Connection, n notification) error {
	err := p.Confirm(ctx, n.SubscribeURL, n.TopicARN)
	if errors.Is(err, ErrUntrusted) {
		return g.originError(err.Error())
	}
	if err != nil {
		return g.unreachable(err)
	}
	g.cfg.Log.LogAttrs(ctx, slog.LevelInfo, "the topic's subscription is confirmed", slog.String("org_id", c.OrgID))
	g.metrics.count(isSubscription, "notice", 1)
	return nil
}
