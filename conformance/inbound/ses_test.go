package inbound

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/notify"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	sendTopic    = "arn:aws:sns:us-east-1:111122223333:mailhelm"
	receiveTopic = "arn:aws:sns:eu-west-1:111122223333:mailhelm" // in the region that receives
	otherTopic   = "arn:aws:sns:us-east-1:444455556666:mailhelm"
)

// amazon is Amazon SES with a receipt rule: it puts messages into a bucket on a real S3 server,
// and publishes signed notifications.
type amazon struct {
	*notify.Publisher
	bucket *enginetest.S3Server
	p      *product.Product
}

// startAmazon starts the S3 server, and the product with the options.
func startAmazon(t *testing.T, opts product.Options) *amazon {
	t.Helper()
	posts := &http.Transport{}
	t.Cleanup(posts.CloseIdleConnections)
	a := &amazon{bucket: enginetest.S3(t)}
	var err error
	if a.Publisher, err = notify.New(notify.Config{Client: &http.Client{Transport: posts}}); err != nil {
		t.Fatal(err)
	}
	text, err := a.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	opts.NoMailHost, opts.LoopbackBuckets, opts.ReceiveRegions = true, true, []string{"eu-west-1", "eu-central-1"}
	opts.Topics, opts.TopicCAs = a.Publisher, x509.NewCertPool()
	opts.TopicCAs.AddCert(certificate)
	a.p = product.Start(t, opts)
	return a
}

// connect connects an organization to an account at Amazon SES that sends from us-east-1, and
// subscribes its ingest address to a topic.
func (a *amazon) connect(t *testing.T, orgID, topic, subscribed string) notify.Subscription {
	t.Helper()
	now := a.p.Clock.Now()
	err := a.p.Connections.SaveConnection(t.Context(), sending.Connection{
		OrgID: orgID, Provider: sending.SES, Region: "us-east-1", TopicARN: topic, IngestPath: "events-" + orgID, CreatedAt: now, UpdatedAt: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	s := notify.Subscription{TopicARN: subscribed, Endpoint: a.p.BaseURL + "/ingest/ses/events-" + orgID}
	if err := a.Subscribe(t.Context(), s); err != nil || !a.IsConfirmed(s) {
		t.Fatalf("the subscription is not confirmed: %v", err)
	}
	return s
}

// put stores a message as the receipt rule does, and returns its key.
func (a *amazon) put(t *testing.T, id, raw string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(a.bucket.Dir, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.bucket.Dir, "in", id), []byte(raw), 0o600); err != nil {
		t.Fatal(err)
	}
	return "in/" + id
}

// publish publishes the notification of a message, and returns the status of the answer.
func (a *amazon) publish(t *testing.T, to notify.Subscription, id, bucket, key string, recipients ...string) int {
	t.Helper()
	pass := map[string]string{"status": "PASS"}
	text, err := json.Marshal(map[string]any{
		"notificationType": "Received",
		"receipt": map[string]any{
			"timestamp": a.p.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "recipients": recipients,
			"spfVerdict": pass, "dkimVerdict": pass, "dmarcVerdict": map[string]string{"status": "GRAY"}, "spamVerdict": pass, "virusVerdict": pass,
			"action": map[string]string{"type": "S3", "topicArn": to.TopicARN, "bucketName": bucket, "objectKeyPrefix": "in", "objectKey": key},
		},
		"mail": map[string]any{"source": "ada@example.org", "messageId": id, "destination": recipients},
	})
	if err != nil {
		t.Fatal(err)
	}
	err = a.Publish(t.Context(), to, string(text))
	if refusal, ok := errors.AsType[*notify.Refusal](err); ok {
		return refusal.Status
	}
	if err != nil {
		t.Fatal(err)
	}
	return http.StatusAccepted
}

// settings returns the bucket of the S3 server, with a prefix for stored mail.
func (a *amazon) settings(prefix string) objects.Bucket {
	return objects.Bucket{
		Endpoint: a.bucket.URL, Region: enginetest.S3Region, Name: enginetest.S3Bucket, Prefix: prefix, PathStyle: true,
		AccessKeyID: enginetest.S3AccessKeyID, Secret: enginetest.S3Secret,
	}
}

// sesID returns the id of a message at Amazon SES.
func sesID(n int) string { return fmt.Sprintf("d6iitobk75ur44p8kdnnp7g2n%03d", n) }

func messageTo(to string) string {
	return "From: Ada <ada@example.org>\r\nTo: " + to + "\r\nSubject: To " + to + "\r\n\r\nHello\r\n"
}

// TestMailByAmazonSES receives mail of a domain by Amazon SES: a signed notification from a topic
// in the region that receives, and the message from the proven bucket of the organization. The
// mail leaves as a signed webhook, once, although SNS repeats the notification; and mail to a
// temporary inbox arrives there. Other buckets, other keys and other organizations get nothing.
func TestMailByAmazonSES(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		h := newHook(t)
		a := startAmazon(t, product.Options{Postgres: postgres, WebhookCAs: h.roots})
		secret := a.domain(t, h)
		to := a.connect(t, a.p.OrgID, sendTopic, receiveTopic)
		recipient := "sales@" + domain
		key := a.put(t, sesID(1), messageTo(recipient))
		if got := a.publish(t, to, sesID(1), enginetest.S3Bucket, key, recipient); got != http.StatusServiceUnavailable {
			t.Errorf("before the bucket is proven, the answer is %d", got)
		}
		a.routed(t, to)
		a.p.UseBucket(t, a.p.OrgID, a.settings("mailhelm"))
		a.p.Clock.Advance(6 * time.Second) // the server reads its settings again
		a.refusals(t, to, recipient)
		minted := a.inbox(t, a.p.Org)
		for range 2 { // SNS repeats a notification whose answer it did not get
			if got := a.publish(t, to, sesID(1), enginetest.S3Bucket, key, recipient, minted.address, "stranger@elsewhere.example"); got != http.StatusAccepted {
				t.Fatalf("the answer is %d", got)
			}
		}
		a.delivered(t, h, secret, recipient)
		a.read(t, minted, recipient)
		a.strangers(t, h, recipient)
	})
}

// domain adds a receiving domain with a published webhook, and returns its secret.
func (a *amazon) domain(t *testing.T, h *hook) string {
	t.Helper()
	a.identity(t, "example.com")
	var d struct {
		Region      string
		CrossRegion bool `json:"cross_region"`
		Records     []struct{ Type, Name, Value string }
		Status      string
		Webhook     struct{ Status string }
		Secret      string `json:"hmac_secret"`
	}
	call(t, a.p, http.MethodPost, "/domains", `{"domain":"`+domain+`"}`, http.StatusCreated, &d)
	if d.Region != "eu-west-1" || !d.CrossRegion || len(d.Records) != 1 || d.Records[0].Type != "MX" || d.Records[0].Value != "10 inbound-smtp.eu-west-1.amazonaws.com" {
		t.Errorf("domain %+v", d)
	}
	call(t, a.p, http.MethodPost, "/domains/"+domain+"/verify", "", http.StatusOK, &d)
	call(t, a.p, http.MethodPut, "/domains/"+domain+"/webhook", `{"webhook_url":"`+h.server.URL+`/mail"}`, http.StatusOK, &d)
	product.Await(t, 30*time.Second, func() error {
		a.p.Clock.Advance(2 * time.Second)
		call(t, a.p, http.MethodGet, "/domains/"+domain, "", http.StatusOK, &d)
		if d.Status != "verified" || d.Webhook.Status != "published" {
			return fmt.Errorf("the domain is %+v", d)
		}
		return nil
	})
	return d.Secret
}

// identity gives the organization a verified sending domain, as a sync of its account does.
func (a *amazon) identity(t *testing.T, name string) {
	t.Helper()
	own := sending.Identity{Identity: name, Verification: sending.Success}
	if err := a.p.Simulator.Seed(t.Context(), a.p.OrgID, simulator.Setup{Account: &sending.Overview{Region: "us-east-1", SendingEnabled: true}, Identities: []sending.Identity{own}}); err != nil {
		t.Fatal(err)
	}
	product.Await(t, 30*time.Second, func() error { // a sync of the product may come between the two calls
		last, err := a.p.DB.Channels().LastSync(t.Context(), a.p.OrgID)
		if err != nil {
			return err
		}
		return a.p.DB.Channels().Mirror(t.Context(), a.p.OrgID, channels.Seen{
			Sync: channels.Sync{Account: last.Account, Region: "us-east-1", At: a.p.Clock.Now()}, Previous: last.At, Identities: []sending.Identity{own},
		})
	})
}

// routed waits until the product has a route for the domain. Before, it answers 503, so that SNS
// repeats the notification. Then it looks at the notification, which names no object.
func (a *amazon) routed(t *testing.T, to notify.Subscription) {
	t.Helper()
	product.Await(t, 30*time.Second, func() error {
		if got := a.publish(t, to, sesID(9), "", "", "sales@"+domain); got != http.StatusBadRequest {
			return fmt.Errorf("the answer is %d", got)
		}
		return nil
	})
}

// refusals publishes notifications of messages that the product must not accept, or not yet.
func (a *amazon) refusals(t *testing.T, to notify.Subscription, recipient string) {
	t.Helper()
	stored := objects.RawKey(a.p.OrgID, "0190a4f2-1111-7000-8000-000000000001")
	for name, tc := range map[string]struct {
		id, bucket, key string
		want            int
	}{
		"an object that is missing": {sesID(2), enginetest.S3Bucket, "in/" + sesID(2), http.StatusServiceUnavailable},
		"another bucket":            {sesID(1), "mail-of-others", "in/" + sesID(1), http.StatusServiceUnavailable},
		"the key of another object": {sesID(2), enginetest.S3Bucket, "in/" + sesID(1), http.StatusBadRequest},
		"mail that is stored":       {"raw.eml", enginetest.S3Bucket, "mailhelm/" + stored, http.StatusBadRequest},
		"no object":                 {sesID(2), "", "", http.StatusBadRequest},
	} {
		if got := a.publish(t, to, tc.id, tc.bucket, tc.key, recipient); got != tc.want {
			t.Errorf("%s: the answer is %d, want %d", name, got, tc.want)
		}
	}
	a.bucket.Stop()
	if got := a.publish(t, to, sesID(1), enginetest.S3Bucket, "in/"+sesID(1), recipient); got != http.StatusServiceUnavailable {
		t.Errorf("without the S3 server, the answer is %d", got)
	}
	a.bucket.Start(t)
}

// inbox is a temporary inbox.
type inbox struct{ address, poll string }

// inbox mints a temporary inbox of an organization.
func (a *amazon) inbox(t *testing.T, org product.Org) inbox {
	t.Helper()
	answer := a.p.Send(t, product.Request{Method: http.MethodPost, URL: a.p.BaseURL + "/v1/inboxes", Bearer: org.Live.APIKey, Body: "{}"})
	var made struct {
		Address string `json:"address"`
		PollURL string `json:"poll_url"`
	}
	if err := json.Unmarshal([]byte(answer.Body), &made); err != nil || answer.Status != http.StatusCreated {
		t.Fatalf("mint: %d %s", answer.Status, answer.Body)
	}
	return inbox{made.Address, made.PollURL}
}

// read checks that the inbox has the message once.
func (a *amazon) read(t *testing.T, i inbox, recipient string) {
	t.Helper()
	answer := a.p.Send(t, product.Request{URL: i.poll + "?wait=20", Bearer: a.p.Live.APIKey})
	if answer.Status != http.StatusOK || strings.Count(answer.Body, `"subject":"To `+recipient+`"`) != 1 || strings.Contains(answer.Body, "stranger@") {
		t.Errorf("the inbox: %d %s", answer.Status, answer.Body)
	}
}

// delivered waits for the webhook of the one message, which the endpoint refuses once, and checks
// it and the log.
func (a *amazon) delivered(t *testing.T, h *hook, secret, recipient string) {
	t.Helper()
	var log struct {
		Data []struct {
			Outcome, Sender string
			Recipients      []string
			Verdicts        map[string]string
		}
	}
	product.Await(t, 30*time.Second, func() error {
		a.p.Clock.Advance(2 * time.Second)
		call(t, a.p, http.MethodGet, "/messages", "", http.StatusOK, &log)
		if len(log.Data) != 1 || log.Data[0].Outcome != "delivered" {
			return fmt.Errorf("the log has %+v", log.Data)
		}
		return nil
	})
	m := log.Data[0]
	if m.Sender != "ada@example.org" || len(m.Recipients) != 1 || m.Recipients[0] != recipient || m.Verdicts["dmarc"] != "GRAY" || m.Verdicts["virus"] != "PASS" {
		t.Errorf("the log has %+v", m)
	}
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, r := range h.all() {
		ids[r.header.Get("webhook-id")] = true
		if err := verifier.VerifyIgnoringTimestamp(r.body, r.header); err != nil || !strings.Contains(string(r.body), `"subject":"To `+recipient+`"`) || !strings.Contains(string(r.body), a.bucket.URL+"/"+enginetest.S3Bucket+"/mailhelm/"+a.p.OrgID) {
			t.Errorf("a delivery: %v, %s", err, r.body)
		}
	}
	if len(ids) != 1 || len(h.all()) != 2 {
		t.Errorf("%d deliveries with the ids %v", len(h.all()), ids)
	}
}

// strangers connects another organization, which keeps its mail in the same bucket with the same
// access key. It receives no mail for the domain, and reads no stored mail of the first one.
func (a *amazon) strangers(t *testing.T, h *hook, recipient string) {
	t.Helper()
	to := a.connect(t, a.p.Other.OrgID, otherTopic, otherTopic)
	a.p.UseBucket(t, a.p.Other.OrgID, a.settings("other"))
	if got := a.publish(t, to, sesID(3), enginetest.S3Bucket, a.put(t, sesID(3), messageTo(recipient)), recipient); got != http.StatusAccepted {
		t.Errorf("mail for a domain of another organization is answered %d", got)
	}
	stored, err := filepath.Glob(filepath.Join(a.bucket.Dir, "mailhelm", a.p.OrgID, "*", "raw.eml"))
	if err != nil || len(stored) == 0 {
		t.Fatalf("no stored mail: %v", err)
	}
	key, err := filepath.Rel(a.bucket.Dir, stored[0])
	if err != nil {
		t.Fatal(err)
	}
	own := a.inbox(t, a.p.Other)
	if got := a.publish(t, to, sesID(4), enginetest.S3Bucket, key, own.address); got != http.StatusBadRequest {
		t.Errorf("stored mail of another organization is answered %d", got)
	}
	first := notify.Subscription{TopicARN: receiveTopic, Endpoint: to.Endpoint}
	if err := a.Subscribe(t.Context(), first); err == nil || a.IsConfirmed(first) {
		t.Errorf("the topic of another organization is confirmed: %v", err)
	}
	if n := len(h.all()); n != 2 {
		t.Errorf("%d deliveries, want 2", n)
	}
}
