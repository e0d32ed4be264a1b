package arrivals

import (
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator/notify"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

const topic = "arn:aws:sns:us-east-1:111122223333:mailhelm"

// TestReportsByAmazonSES sends reports that Amazon SES received, with its verdicts. One with a DMARC
// pass counts, another is held; a repeated notification changes nothing. Mail to the address of
// another organization is not taken.
func TestReportsByAmazonSES(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		posts := &http.Transport{}
		t.Cleanup(posts.CloseIdleConnections)
		amazon, err := notify.New(notify.Config{Client: &http.Client{Transport: posts}})
		must(t, err)
		text, err := amazon.Certificate()
		must(t, err)
		block, _ := pem.Decode(text)
		certificate, err := x509.ParseCertificate(block.Bytes)
		must(t, err)
		roots := x509.NewCertPool()
		roots.AddCert(certificate)
		p := product.Start(t, product.Options{Postgres: postgres, NoMailHost: true, ReceiveRegions: []string{"eu-west-1"}, Topics: amazon, TopicCAs: roots})
		w, other := watch(t, p, p.OrgID), watch(t, p, p.Other.OrgID)
		now := p.Clock.Now()
		must(t, p.Connections.SaveConnection(t.Context(), sending.Connection{
			OrgID: p.OrgID, Provider: sending.SES, Region: "us-east-1", TopicARN: topic, IngestPath: "events-" + p.OrgID, CreatedAt: now, UpdatedAt: now,
		}))
		to := notify.Subscription{TopicARN: topic, Endpoint: p.BaseURL + "/ingest/ses/events-" + p.OrgID}
		must(t, amazon.Subscribe(t.Context(), to))
		publish := func(id, dmarc, raw string, recipients ...string) {
			t.Helper()
			must(t, amazon.Publish(t.Context(), to, notification(t, p, id, dmarc, raw, recipients)))
		}
		for range 2 {
			publish("1", "PASS", message("dmarc@"+reporter, w.address(), "passed", zipped(usual("1").at(now))), w.address())
		}
		publish("2", "GRAY", message("dmarc@"+reporter, w.address(), "gray", zipped(usual("2").at(now))), w.address())
		publish("3", "PASS", message("dmarc@"+reporter, other.address(), "other", zipped(usual("3").at(now))), other.address())
		files := w.await(t, map[string]arrivals.State{"passed": arrivals.Read, "gray": arrivals.Held})
		if w.messages(t) != 7 || len(files) != 2 || len(other.files(t)) != 0 {
			t.Errorf("%d messages and %d files; the other organization has %d files", w.messages(t), len(files), len(other.files(t)))
		}
	})
}

// notification returns the notification of a message with its content.
func notification(t *testing.T, p *product.Product, id, dmarc, raw string, recipients []string) string {
	t.Helper()
	verdict := func(status string) map[string]string { return map[string]string{"status": status} }
	text, err := json.Marshal(map[string]any{
		"notificationType": "Received", "content": raw,
		"receipt": map[string]any{
			"timestamp": p.Clock.Now().UTC().Format("2006-01-02T15:04:05.000Z"), "recipients": recipients,
			"spfVerdict": verdict("GRAY"), "dkimVerdict": verdict(dmarc), "dmarcVerdict": verdict(dmarc), "spamVerdict": verdict("PASS"), "virusVerdict": verdict("PASS"),
			"action": map[string]string{"type": "SNS", "topicArn": topic, "encoding": "UTF-8"},
		},
		"mail": map[string]any{"source": "bounces@" + reporter, "messageId": "d6iitobk75ur44p8kdnnp7g2n00" + id, "destination": recipients},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
