package server

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// TestSpansOfEvents checks the spans of requests with which a sending account posts its
// events. The parent of such a span must be the one that the request's traceparent header
// names. The span must contain no address, credential or content of an event.
func TestSpansOfEvents(t *testing.T) {
	t.Parallel()
	const path, key, topic, span = "half-a-secret", "the other half", "arn:aws:sns:eu-west-1:111122223333:events", "POST /ingest/ses/{path}"
	c, p := traced(t, func(t *testing.T, p *product.Product) {
		digest, now := sha256.Sum256([]byte(key)), p.Clock.Now()
		if err := p.Connections.SaveConnection(t.Context(), sending.Connection{
			OrgID: p.OrgID, Provider: sending.SES, Region: "eu-west-1", TopicARN: topic, IngestPath: path, IngestKeyHash: digest[:], CreatedAt: now, UpdatedAt: now,
		}); err != nil {
			t.Fatal(err)
		}
		at := now.UTC().Format(time.RFC3339)
		event := `{"eventType":"Open","mail":{"timestamp":"` + at + `","messageId":"m","source":"a@b.example","destination":["eve@d.example"]},"open":{"timestamp":"` + at + `"}}`
		unverifiable := fmt.Sprintf(`{"Type":"Notification","TopicArn":%q,"Timestamp":%q,"SignatureVersion":"2","Signature":"AAAA",`+
			`"SigningCertURL":"https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0.pem"}`, topic, at)
		to := func(where, body string, status int, header map[string]string) {
			t.Helper()
			header["Traceparent"] = traceparent(headerTrace, headerSpan)
			if got := ask(t, p.HTTP, request{http.MethodPost, p.BaseURL + where, "", body, header}); got.status != status {
				t.Errorf("%s: %d %s", where, got.status, got.body)
			}
		}
		to("/ingest/ses/"+path, event, 202, map[string]string{"X-Api-Key": key})
		to("/ingest/ses/"+path, event, 401, map[string]string{"X-Api-Key": "wrong"})
		to("/ingest/ses/"+path, unverifiable, 503, map[string]string{"X-Amz-Sns-Message-Type": "Notification"})
		to("/ingest/"+path, event, 404, map[string]string{})
	})
	seen := map[string]*tracepb.Span{}
	for _, s := range append(c.named(t, span), c.one(t, "POST")) {
		seen[texts(s.Attributes)["http.response.status_code"]] = s
	}
	for status, more := range map[string]map[string]string{
		"202": {"http.route": "/ingest/ses/{path}"}, "401": {"http.route": "/ingest/ses/{path}"},
		"503": {"http.route": "/ingest/ses/{path}", "error.type": "503"}, "404": {},
	} {
		s := seen[status]
		if s == nil {
			t.Errorf("no span of the answer %s; there are %v", status, c.names())
			continue
		}
		want := placeOf(t, p.BaseURL)
		maps.Copy(want, map[string]string{"url.scheme": "http", "http.request.method": "POST", "http.response.status_code": status})
		maps.Copy(want, more)
		if got := texts(s.Attributes); !maps.Equal(got, want) {
			t.Errorf("%s:\n got %v\nwant %v", status, got, want)
		}
		if s.Kind != tracepb.Span_SPAN_KIND_SERVER || hex.EncodeToString(s.TraceId) != headerTrace || hex.EncodeToString(s.ParentSpanId) != headerSpan {
			t.Errorf("%s: kind %v, trace %x, parent %x", status, s.Kind, s.TraceId, s.ParentSpanId)
		}
		if failed := s.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR; failed != (status == "503") {
			t.Errorf("%s: status %v", status, s.Status)
		}
	}
	for _, secret := range []string{path, key, topic, "eve", "b.example"} {
		if strings.Contains(c.raw.String(), secret) {
			t.Errorf("the spans hold %q", secret)
		}
	}
}
