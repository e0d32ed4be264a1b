package notify

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // signature version 1 has it
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// message is the JSON body of a notification, with the members of SNS.
type message struct {
	Type             string `json:"Type"`
	MessageID        string `json:"MessageId"`
	Token            string `json:"Token,omitempty"`
	TopicARN         string `json:"TopicArn"`
	Subject          string `json:"Subject,omitempty"`
	Message          string `json:"Message"`
	SubscribeURL     string `json:"SubscribeURL,omitempty"`
	Timestamp        string `json:"Timestamp"`
	SignatureVersion string `json:"SignatureVersion"`
	Signature        string `json:"Signature"`
	SigningCertURL   string `json:"SigningCertURL"`
	UnsubscribeURL   string `json:"UnsubscribeURL,omitempty"`
}

func (p *Publisher) message(kind string, s Subscription, text string) message {
	return message{
		Type: kind, MessageID: uuid.NewString(), TopicARN: s.TopicARN, Message: text,
		Timestamp:        p.cfg.Clock().UTC().Format("2006-01-02T15:04:05.000Z"),
		SignatureVersion: strconv.Itoa(p.cfg.SignatureVersion),
	}
}

// signedText returns the text that SNS signs: the names and values of the members listed
// below, in alphabetical order of the names. It omits members with an empty value.
func (m message) signedText() []byte {
	var b bytes.Buffer
	for _, member := range [][2]string{
		{"Message", m.Message},
		{"MessageId", m.MessageID},
		{"Subject", m.Subject},
		{"SubscribeURL", m.SubscribeURL},
		{"Timestamp", m.Timestamp},
		{"Token", m.Token},
		{"TopicArn", m.TopicARN},
		{"Type", m.Type},
	} {
		if member[1] != "" {
			b.WriteString(member[0] + "\n" + member[1] + "\n")
		}
	}
	return b.Bytes()
}

func (p *Publisher) sign(m *message) error {
	own, err := p.identity()
	if err != nil {
		return err
	}
	m.SigningCertURL = own.address
	kind, sum := crypto.SHA256, sha256.Sum256(m.signedText())
	digest := sum[:]
	if p.cfg.SignatureVersion == 1 {
		old := sha1.Sum(m.signedText()) //nolint:gosec // see the import
		kind, digest = crypto.SHA1, old[:]
	}
	signature, err := rsa.SignPKCS1v15(rand.Reader, own.key, kind, digest)
	m.Signature = base64.StdEncoding.EncodeToString(signature)
	return err
}

func (p *Publisher) post(ctx context.Context, s Subscription, m message) error {
	if err := p.sign(&m); err != nil {
		return err
	}
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "text/plain; charset=UTF-8")
	r.Header.Set("User-Agent", "Amazon Simple Notification Service Agent")
	r.Header.Set("X-Amz-Sns-Message-Type", m.Type)
	r.Header.Set("X-Amz-Sns-Message-Id", m.MessageID)
	r.Header.Set("X-Amz-Sns-Topic-Arn", m.TopicARN)
	if m.Type == "Notification" {
		r.Header.Set("X-Amz-Sns-Subscription-Arn", subscriptionARN(s))
	}
	answer, err := p.cfg.Client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return &Refusal{answer.StatusCode}
	}
	return nil
}

// Refusal is the error for a notification that the endpoint answered with a status other
// than 2xx.
type Refusal struct{ Status int }

// Error returns a text that contains only the status, not the response body.
func (r *Refusal) Error() string { return fmt.Sprintf("notify: the endpoint answered %d", r.Status) }

// final reports whether the notification is not sent again: the status is 4xx, other than
// 408 and 429.
func (r *Refusal) final() bool {
	return r.Status/100 == 4 && r.Status != http.StatusTooManyRequests && r.Status != http.StatusRequestTimeout
}

func subscriptionARN(s Subscription) string {
	sum := sha256.Sum256([]byte(s.Endpoint))
	return s.TopicARN + ":" + hex.EncodeToString(sum[:16])
}

// regionOf returns the region in a topic's ARN, arn:aws:sns:<region>:..., or us-east-1 if
// the ARN has none.
func regionOf(topicARN string) string {
	const region = 3
	if parts := strings.Split(topicARN, ":"); len(parts) > region && parts[region] != "" {
		return parts[region]
	}
	return defaultRegion
}

const defaultRegion = "us-east-1"

func (p *Publisher) subscribeURL(s Subscription, token string) string {
	return "https://sns." + regionOf(s.TopicARN) + ".amazonaws.com/?" +
		url.Values{"Action": {"ConfirmSubscription"}, "TopicArn": {s.TopicARN}, "Token": {token}}.Encode()
}

func (p *Publisher) unsubscribeURL(s Subscription) string {
	return "https://sns." + regionOf(s.TopicARN) + ".amazonaws.com/?" +
		url.Values{"Action": {"Unsubscribe"}, "SubscriptionArn": {subscriptionARN(s)}}.Encode()
}
