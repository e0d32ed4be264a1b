package ingest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

func deliveryOf(messageID string) string {
	return `{"eventType":"Delivery","mail":{"timestamp":"2026-03-02T11:59:00.000Z","messageId":"` + messageID +
		`","source":"a@b.example","destination":["c@d.example"]},"delivery":{"timestamp":"2026-03-02T11:59:01.000Z","recipients":["c@d.example"]}}`
}

func wantAccepted(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	if w.Code != http.StatusAccepted || w.Body.Len() > 0 {
		t.Errorf("answered %d %s", w.Code, w.Body)
	}
}

// problem checks a refusal.
func problem(t *testing.T, w *httptest.ResponseRecorder, status int, code string) {
	t.Helper()
	var p struct {
		Status int    `json:"status"`
		Code   string `json:"code"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != status || p.Status != status || p.Code != code ||
		w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("answered %d %s, want %d %s", w.Code, w.Body, status, code)
	}
}

func TestNotifications(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for _, version := range []string{"1", "2"} {
		n := notification(deliveryOf("message-" + version))
		n["SignatureVersion"], n["Subject"] = version, "Amazon SES Email Event Notification"
		n.sign(t, s.signer.key)
		wantAccepted(t, s.notify("path-ses", n))
		wantAccepted(t, s.notify("path-ses", n)) // a replay changes nothing
		if got := s.countStored("org-ses", "message-"+version); got != 1 {
			t.Errorf("version %s: %d events", version, got)
		}
	}
	wantAccepted(t, s.notify("path-ses", notification("Successfully validated SNS topic for Amazon SES event publishing.").sign(t, s.signer.key)))
	// The certificates of the publisher and of its issuer were each fetched once.
	if diff := cmp.Diff([]string{certURL, issuerURL}, s.internet.requests()); diff != "" {
		t.Error(diff)
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(s.metrics, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody))
	for _, line := range []string{
		`mailhelm_ingest_events_total{outcome="duplicate",type="Delivery"} 2`,
		`mailhelm_ingest_events_total{outcome="notice",type=""} 1`,
		`mailhelm_ingest_events_total{outcome="recorded",type="Delivery"} 2`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("no %s in\n%s", line, w.Body)
		}
	}
}

func TestSubscription(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	n := subscription()
	problem(t, s.notify("path-ses", n.sign(t, s.signer.key)), 503, "upstream_unavailable") // SNS repeats it
	s.internet.mu.Lock()
	s.internet.files[n["SubscribeURL"]] = []byte("<ConfirmSubscriptionResponse/>")
	s.internet.mu.Unlock()
	for range 20 { // a link that is sent again is not followed again
		wantAccepted(t, s.notify("path-ses", n))
	}
	if diff := cmp.Diff([]string{certURL, issuerURL, n["SubscribeURL"], n["SubscribeURL"]}, s.internet.requests()); diff != "" {
		t.Error(diff)
	}

	gone := subscription()
	gone["Type"] = "UnsubscribeConfirmation"
	wantAccepted(t, s.notify("path-ses", gone.sign(t, s.signer.key)))
	if !strings.Contains(s.log.String(), "subscription was removed") {
		t.Error("the log does not say that events end")
	}
}

// TestForgedNotifications checks that a forged, altered or outdated message gets the same
// answer in every case and stores nothing. For such a message, the server may fetch
// certificates from Amazon's hosts, but no other URL.
func TestForgedNotifications(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	other := newAuthority(t, foreignKey(), "sns.amazonaws.com", now.Add(1000*time.Hour))
	const foreign = "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-f.pem"
	wrongHost := newAuthority(t, foreignKey(), "sqs.amazonaws.com", now.Add(1000*time.Hour))
	const misnamed = "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-a.pem"
	s.internet.files[foreign], s.internet.files[misnamed] = other.leaf, wrongHost.leaf
	forge := func(change note) note {
		n := notification(deliveryOf("forged"))
		for name, value := range change {
			n[name] = value
		}
		return n.sign(t, s.signer.key)
	}
	altered := func(n note, name, value string) note { n[name] = value; return n }
	confirm := func(link string) note { n := subscription(); n["SubscribeURL"] = link; return n.sign(t, s.signer.key) }
	for name, n := range map[string]note{
		"another topic":         forge(note{"TopicArn": topic + "2"}),
		"no topic":              forge(note{"TopicArn": ""}),
		"altered event":         altered(forge(nil), "Message", deliveryOf("altered")),
		"added subject":         altered(forge(nil), "Subject", "x"),
		"altered time":          altered(forge(nil), "Timestamp", now.Format(time.RFC3339)),
		"old":                   forge(note{"Timestamp": now.Add(-61 * time.Minute).Format(time.RFC3339)}),
		"of tomorrow":           forge(note{"Timestamp": now.Add(24 * time.Hour).Format(time.RFC3339)}),
		"no signature":          altered(forge(nil), "Signature", ""),
		"signature in no form":  altered(forge(nil), "Signature", "*"),
		"another version":       altered(forge(nil), "SignatureVersion", "3"),
		"no version":            altered(forge(nil), "SignatureVersion", ""),
		"older version claimed": altered(forge(nil), "SignatureVersion", "1"),
		"another type":          forge(note{"Type": "Order"}),
		"another key":           notification(deliveryOf("forged")).sign(t, foreignKey()),
		"foreign certificate":   altered(notification(deliveryOf("forged")), "SigningCertURL", foreign).sign(t, foreignKey()),
		"certificate of others": altered(notification(deliveryOf("forged")), "SigningCertURL", misnamed).sign(t, foreignKey()),
		"plain http":            forge(note{"SigningCertURL": strings.Replace(certURL, "https", "http", 1)}),
		"evil host":             forge(note{"SigningCertURL": "https://evil.example/SimpleNotificationService-0.pem"}),
		"host in front":         forge(note{"SigningCertURL": "https://sns.eu-west-1.amazonaws.com.evil.example/SimpleNotificationService-0.pem"}),
		"host as a user":        forge(note{"SigningCertURL": "https://sns.eu-west-1.amazonaws.com@evil.example/SimpleNotificationService-0.pem"}),
		"a port":                forge(note{"SigningCertURL": "https://sns.eu-west-1.amazonaws.com:8443/SimpleNotificationService-0.pem"}),
		"a bucket":              forge(note{"SigningCertURL": "https://s3.amazonaws.com/mine/SimpleNotificationService-0.pem"}),
		"another path":          forge(note{"SigningCertURL": "https://sns.eu-west-1.amazonaws.com/?Action=x&y=.pem"}),
		"a path upwards":        forge(note{"SigningCertURL": "https://sns.eu-west-1.amazonaws.com/x/../SimpleNotificationService-0.pem"}),
		"no pem":                forge(note{"SigningCertURL": "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0.txt"}),
		"no address":            forge(note{"SigningCertURL": "\x00://"}),
		"a query":               forge(note{"SigningCertURL": certURL + "?x=.pem"}),
		"a user":                forge(note{"SigningCertURL": strings.Replace(certURL, "sns.", "somebody@sns.", 1)}),
		"link below the root":   confirm("https://sns.eu-west-1.amazonaws.com/x/?Action=ConfirmSubscription&TopicArn=" + topic),
		"link elsewhere":        confirm("https://evil.example/?Action=ConfirmSubscription&TopicArn=" + topic),
		"link of another topic": confirm("https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=other"),
		"link to do otherwise":  confirm("https://sns.eu-west-1.amazonaws.com/?Action=Publish&TopicArn=" + topic),
	} {
		w := s.notify("path-ses", n)
		if problem(t, w, 401, "invalid_key"); t.Failed() {
			t.Fatal(name)
		}
	}
	for _, id := range []string{"forged", "altered"} {
		if s.countStored("org-ses", id) > 0 {
			t.Errorf("%s is stored", id)
		}
	}
	for _, address := range s.internet.requests() {
		if address != certURL && address != issuerURL && address != foreign && address != misnamed {
			t.Errorf("asked for %s", address)
		}
	}
	if strings.Contains(s.log.String(), "c@d.example") || strings.Contains(s.log.String(), "path-ses") {
		t.Error("the log repeats what came in")
	}
}

// TestSimulatorsKey checks which key must have signed an event. An organization with a
// simulated account accepts only the simulator's key, and every other organization only
// Amazon's key.
func TestSimulatorsKey(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	simulated := notification(deliveryOf("simulated")).sign(t, foreignKey())
	wantAccepted(t, s.notify("path-simulated", simulated))
	problem(t, s.notify("path-ses", simulated), 401, "invalid_key")
	problem(t, s.notify("path-simulated", notification(deliveryOf("real")).sign(t, s.signer.key)), 401, "invalid_key")
	if s.countStored("org-simulated", "simulated") != 1 || s.countStored("org-ses", "simulated") != 0 {
		t.Error("stored for the wrong organization")
	}
}

// TestPublisherOutOfReach checks that a message gets 503 and Retry-After if a certificate
// cannot be fetched now. After a 503, SNS sends the message again; after a 4xx status it
// does not.
func TestPublisherOutOfReach(t *testing.T) {
	t.Parallel()
	for _, missing := range []string{certURL, issuerURL} {
		s := newScene(t)
		file := s.internet.files[missing]
		delete(s.internet.files, missing)
		n := notification(deliveryOf("later")).sign(t, s.signer.key)
		w := s.notify("path-ses", n)
		problem(t, w, 503, "upstream_unavailable")
		if w.Header().Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		s.internet.files[missing] = file
		s.later.Store(int64(10 * time.Second)) // a failed fetch is cached for five seconds
		wantAccepted(t, s.notify("path-ses", n))
	}
}

// TestCertificateOfAnotherHost checks that a signing certificate is refused unless it is
// issued for the host of its URL or for sns.amazonaws.com. It is not enough that a trusted
// root has signed the certificate, because roots sign certificates of many owners.
func TestCertificateOfAnotherHost(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"sqs.amazonaws.com", "evil.example", "sns.us-east-1.amazonaws.com"} {
		s := sceneWith(t, newAuthority(t, signingKey(), host, now.Add(1000*time.Hour)))
		problem(t, s.notify("path-ses", notification(deliveryOf("x")).sign(t, s.signer.key)), 401, "invalid_key")
	}
	s := sceneWith(t, newAuthority(t, signingKey(), "sns.eu-west-1.amazonaws.com", now.Add(1000*time.Hour)))
	wantAccepted(t, s.notify("path-ses", notification(deliveryOf("regional")).sign(t, s.signer.key)))
}

func TestExpiredCertificate(t *testing.T) {
	t.Parallel()
	s := sceneWith(t, newAuthority(t, signingKey(), "sns.amazonaws.com", now.Add(-time.Minute)))
	problem(t, s.notify("path-ses", notification(deliveryOf("x")).sign(t, s.signer.key)), 401, "invalid_key")
}

// TestCertificateThatExpiresWhileItIsRemembered checks that a cached certificate is refused
// after its expiry.
func TestCertificateThatExpiresWhileItIsRemembered(t *testing.T) {
	t.Parallel()
	s := sceneWith(t, newAuthority(t, signingKey(), "sns.amazonaws.com", now.Add(time.Hour)))
	wantAccepted(t, s.notify("path-ses", notification(deliveryOf("in-time")).sign(t, s.signer.key)))
	s.later.Store(int64(2 * time.Hour))
	late := notification(deliveryOf("late"))
	late["Timestamp"] = now.Add(2*time.Hour - time.Second).Format(time.RFC3339)
	problem(t, s.notify("path-ses", late.sign(t, s.signer.key)), 401, "invalid_key")
}

func TestEventBridge(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	enveloped := `{"version":"0","detail-type":"Email Delivered","source":"aws.ses","detail":` + deliveryOf("bus") + `}`
	send := func(path, key, body string) *httptest.ResponseRecorder {
		return s.post(path, map[string]string{"x-api-key": key, "Content-Type": "application/json"}, []byte(body))
	}
	wantAccepted(t, send("path-ses", eventKey, enveloped))
	wantAccepted(t, send("path-ses", eventKey, enveloped))
	wantAccepted(t, send("path-ses", eventKey, deliveryOf("bus"))) // without the EventBridge envelope
	if got := s.countStored("org-ses", "bus"); got != 1 {
		t.Errorf("%d events", got)
	}
	problem(t, send("path-ses", eventKey+"x", enveloped), 401, "invalid_key")
	problem(t, send("path-ses", "", enveloped), 401, "invalid_key")
	problem(t, send("path-simulated", eventKey, enveloped), 401, "invalid_key") // it has no key
	problem(t, send("path-simulated", "", enveloped), 401, "invalid_key")
	problem(t, send("nobodys", eventKey, enveloped), 401, "invalid_key")
	problem(t, send("%00%ff", eventKey, enveloped), 401, "invalid_key")
	problem(t, send("path-unpinned", eventKey, enveloped), 401, "invalid_key")
	for _, malformed := range []string{"", "null", "[]", "{", `{"detail":{}}`, strings.Repeat("[", 100_000), "\xff", `{"eventType":"Delivery","mail":{"messageId":"\u0000"}}`} {
		problem(t, send("path-ses", eventKey, malformed), 400, "validation_failed")
	}
	problem(t, send("path-ses", eventKey, strings.Repeat(" ", 256<<10+1)), 413, "validation_failed")
}

func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	for path, want := range map[string]int{
		"GET /ingest/ses/path-ses": 405, "PUT /ingest/ses/path-ses": 405, "POST /ingest/ses/": 404, "POST /ingest": 404,
		"POST /ingest/ses/path-ses/x": 404, "POST /ingest/mailgun/path-ses": 404, "POST /ingest/ses/path-ses%2f..": 401,
	} {
		method, target, _ := strings.Cut(path, " ")
		w := httptest.NewRecorder()
		s.handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, target, http.NoBody))
		if w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	problem(t, s.notify("path-unpinned", notification(deliveryOf("x")).sign(t, s.signer.key)), 401, "invalid_key")
	// A message with an empty topic must not match a connection without a topic.
	nowhere := notification(deliveryOf("x"))
	nowhere["TopicArn"] = ""
	problem(t, s.notify("path-unpinned", nowhere.sign(t, s.signer.key)), 401, "invalid_key")
}

// TestGiantBody checks that a body without a Content-Length is refused when it exceeds the
// limit.
func TestGiantBody(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/ingest/ses/path-ses", bytes.NewReader(make([]byte, 1<<20)))
	r.ContentLength = -1
	r.Header.Set("X-Amz-Sns-Message-Type", "Notification")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	problem(t, w, 413, "validation_failed")
}

// TestManyAtOnce sends 200 concurrent requests, two for each event. It checks that every
// acknowledged event is stored exactly once.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			id := "many-" + strconv.Itoa(i/2)
			w := s.post("path-ses", map[string]string{"x-api-key": eventKey}, []byte(deliveryOf(id)))
			if w.Code != http.StatusAccepted || s.countStored("org-ses", id) != 1 {
				t.Errorf("%s: answered %d, %d events", id, w.Code, s.countStored("org-ses", id))
			}
		})
	}
	all.Wait()
}
