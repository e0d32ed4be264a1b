package messages_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/messages"
)

var update = flag.Bool("update", false, "write the golden files anew")

// parsedAt is the current time for ParseSES, a day after the events in testdata.
var parsedAt = time.Date(2026, 3, 3, 8, 0, 0, 0, time.UTC)

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func fixtures(t testing.TB) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	all := make(map[string][]byte)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		all[name] = fixture(t, name)
	}
	return all
}

// TestGoldenParseSES compares the parsed events of each type with golden files.
func TestGoldenParseSES(t *testing.T) {
	t.Parallel()
	types := map[messages.EventType]bool{}
	for name, raw := range fixtures(t) {
		events, err := messages.ParseSES(raw, parsedAt)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, e := range events {
			types[e.Type] = true
		}
		got, err := json.MarshalIndent(events, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden := filepath.Join("testdata", name+".golden")
		if *update {
			if err := goldentest.Write(golden, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if len(types) != 10 {
		t.Errorf("%d types of events, want all ten: %v", len(types), types)
	}
}

// TestEventIDs checks that an event has the same id with and without an SNS or EventBridge
// envelope, and that different events have different ids.
func TestEventIDs(t *testing.T) {
	t.Parallel()
	id := func(raw []byte) string {
		events, err := messages.ParseSES(messages.UnwrapSES(raw), parsedAt)
		if err != nil {
			t.Fatal(err)
		}
		return events[0].ID
	}
	plain := fixture(t, "delivery")
	var compact bytes.Buffer
	if err := json.Compact(&compact, plain); err != nil {
		t.Fatal(err)
	}
	wrapped, err := json.Marshal(map[string]string{"Type": "Notification", "TopicArn": "arn:x", "Message": string(plain)})
	if err != nil {
		t.Fatal(err)
	}
	for name, same := range map[string][]byte{
		"EventBridge": fixture(t, "eventbridge_delivery"), "SNS": wrapped, "no white space": compact.Bytes(),
		"more said": bytes.Replace(plain, []byte(`"delivery": {`), []byte(`"delivery": {"novelty": true,`), 1),
	} {
		if id(same) != id(plain) {
			t.Errorf("%s: another id", name)
		}
	}
	for _, change := range [][2]string{
		{"2026-03-02T08:15:06.871Z", "2026-03-02T08:15:06.872Z"},
		{"000000000002", "000000000009"},
		{`"ines@reader.example"` + "\n    ],\n    \"smtp", `"Ines@reader.example"` + "\n    ],\n    \"smtp"},
	} {
		other := bytes.ReplaceAll(plain, []byte(change[0]), []byte(change[1]))
		if bytes.Equal(other, plain) || id(other) == id(plain) {
			t.Errorf("%q changes nothing", change[0])
		}
	}
}

// TestParseSESRefuses checks that the error for an invalid event names the invalid member
// and says what is wrong with it.
func TestParseSESRefuses(t *testing.T) {
	t.Parallel()
	edit := func(old, replacement string) []byte {
		raw := fixture(t, "delivery")
		edited := bytes.ReplaceAll(raw, []byte(old), []byte(replacement))
		if bytes.Equal(raw, edited) {
			t.Fatalf("%q is not in the fixture", old)
		}
		return edited
	}
	many := strings.Repeat(`"a@b.example",`, 501) + `"a@b.example"`
	for want, raw := range map[string][]byte{
		"eventType: is missing":          edit(`"eventType": "Delivery",`, ""),
		"eventType: is not one":          edit(`"Delivery"`, `"Teleport"`),
		"eventType: is missing or not":   edit(`"Delivery"`, `{}`),
		"mail: is missing":               edit(`"mail":`, `"male":`),
		"mail: is not":                   edit(`"destination": [`, `"destination": [7,`),
		"mail.messageId":                 edit("0102019c", "0102 019c"),
		"mail.timestamp: is missing":     edit("2026-03-02T08:15:04.120Z", "yesterday"),
		"mail.timestamp: is before":      edit("2026-03-02T08:15:04.120Z", "1026-03-02T08:15:04.120Z"),
		"delivery.timestamp: is more":    edit("2026-03-02T08:15:06.871Z", "2026-03-05T08:15:06.871Z"),
		"delivery: is not a JSON object": edit(`"delivery": {`, `"delivery": 5, "was": {`),
		"delivery.recipients: names":     edit(`"recipients": [`, `"recipients": [`+many+","),
		"mail.destination: names":        edit(`"destination": [`, `"destination": [`+many+","),
		"mail.destination: has an":       edit(`"destination": [`, `"destination": ["`+strings.Repeat("a", 400)+`@b.example",`),
		"is not valid UTF-8":             []byte("{\"eventType\":\"\xff\"}"),
		"is longer than 256 KB":          bytes.Repeat([]byte(" "), messages.MaxSESEvent+1),
		"is not a JSON object":           []byte(strings.Repeat(`{"detail":`, 20_000)),
		": is not a JSON object":         []byte("null"),
	} {
		events, err := messages.ParseSES(raw, parsedAt)
		refusal, ok := errors.AsType[*core.Error](err)
		if !ok || refusal.Code != core.CodeValidationFailed || len(events) > 0 {
			t.Errorf("%s: %v", want, err)
			continue
		}
		if got := refusal.Fields[0].Field + ": " + refusal.Fields[0].Reason; !strings.Contains(got, want) {
			t.Errorf("refused with %q, want %q", got, want)
		}
	}
}

// TestParseSESCleans checks that metadata contains no NUL and no invalid Unicode, and that
// long texts are cut to 2048 bytes.
func TestParseSESCleans(t *testing.T) {
	t.Parallel()
	raw := bytes.Replace(fixture(t, "open"), []byte("Mozilla/5.0"), []byte(`Moz\u0000illa\ud800/5.0`), 1)
	raw = bytes.Replace(raw, []byte(`"open": {`), []byte(`"open": {"\u0000x": ["\u0000"], "deep": `+strings.Repeat("[", 50)+strings.Repeat("]", 50)+`, "long": "`+strings.Repeat("ä", 5000)+`", "digits": 1`+strings.Repeat("0", 400)+`,`), 1)
	events, err := messages.ParseSES(raw, parsedAt)
	if err != nil {
		t.Fatal(err)
	}
	var metadata map[string]any
	if err := json.Unmarshal(events[0].Metadata, &metadata); err != nil {
		t.Fatal(err)
	}
	if got := metadata["user_agent"]; got != "Mozilla\uFFFD/5.0 (X11; Linux x86_64) Thunderbird/140.2" {
		t.Errorf("user_agent is %q", got)
	}
	if long, _ := metadata["long"].(string); len(long) != 2048 || !utf8.ValidString(long) {
		t.Errorf("%d bytes of the long text", len(long))
	}
	if diff := cmp.Diff([]any{""}, metadata["x"]); diff != "" {
		t.Error(diff)
	}
}

// TestUnknownMembersAreKept checks that unknown JSON members of an event are stored in its
// metadata. They must not overwrite known members or change the event's id.
func TestUnknownMembersAreKept(t *testing.T) {
	t.Parallel()
	plain := fixture(t, "delivery")
	known, err := messages.ParseSES(plain, parsedAt)
	if err != nil {
		t.Fatal(err)
	}
	raw := bytes.Replace(plain, []byte(`"eventType":`), []byte(`"novelty": {"of": ["\u0000", 1]}, "smtp_response": "forged", "link": "https://x.example/", "feedbackId": "f",
		"userAgent": "u", "open": {}, "recipients": ["eve@example.com"], "timestamp": "2020-01-01T00:00:00Z", "eventType":`), 1)
	raw = bytes.Replace(raw, []byte(`"delivery": {`), []byte(`"delivery": {"relayedBy": "192.0.2.1",`), 1)
	events, err := messages.ParseSES(raw, parsedAt)
	if err != nil || len(events) != len(known) {
		t.Fatalf("%d events, %v", len(events), err)
	}
	var before, after map[string]any
	if err := errors.Join(json.Unmarshal(known[0].Metadata, &before), json.Unmarshal(events[0].Metadata, &after)); err != nil {
		t.Fatal(err)
	}
	before["novelty"], before["relayedBy"] = map[string]any{"of": []any{"", 1.0}}, "192.0.2.1"
	before["link"], before["feedbackId"], before["userAgent"], before["open"] = "https://x.example/", "f", "u", map[string]any{}
	before["recipients"], before["timestamp"] = []any{"eve@example.com"}, "2020-01-01T00:00:00Z"
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	events[0].Metadata = known[0].Metadata
	if diff := cmp.Diff(known[0], events[0]); diff != "" {
		t.Errorf("another event (-want +got):\n%s", diff)
	}
}

func FuzzParseSES(f *testing.F) {
	for _, raw := range fixtures(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		events, err := messages.ParseSES(messages.UnwrapSES(raw), parsedAt)
		if err != nil {
			if refusal, ok := errors.AsType[*core.Error](err); !ok || refusal.Code != core.CodeValidationFailed {
				t.Fatalf("no refusal: %v", err)
			}
			return
		}
		for _, e := range events {
			encoded, err := json.Marshal(e)
			if err != nil || len(e.Metadata) > 9<<10 {
				t.Fatalf("%d bytes of metadata, %v", len(e.Metadata), err)
			}
			texts := []string{e.MessageID, e.Recipient, e.Mail.From, e.Mail.Subject, e.Mail.Channel, e.Mail.Template, string(encoded)}
			for _, text := range append(texts, e.Mail.To...) {
				if !utf8.ValidString(text) || strings.ContainsRune(text, 0) || strings.Contains(text, `\u0000`) {
					t.Fatalf("%q cannot be stored", text)
				}
			}
			if e.ID == "" || e.MessageID == "" || e.OccurredAt.IsZero() || e.Mail.SentAt.IsZero() {
				t.Fatalf("incomplete: %+v", e)
			}
		}
		again, err := messages.ParseSES(messages.UnwrapSES(raw), parsedAt)
		if diff := cmp.Diff(events, again); err != nil || diff != "" {
			t.Fatalf("not the same again: %v\n%s", err, diff)
		}
	})
}
