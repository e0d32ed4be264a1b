package messages_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// TestNothingNamesTheRecipientWithoutTheScope checks that addresses are masked wherever
// texts of the provider repeat them, if the caller lacks the scope that shows addresses.
func TestNothingNamesTheRecipientWithoutTheScope(t *testing.T) {
	t.Parallel()
	fields := map[string]any{
		"smtp_response": "550 5.1.1 <JANE.DOE@EXAMPLE.COM>: Recipient address rejected: user jane.doe unknown; jane.doe@example.com forwards to secret.person@example.net",
		"click_url":     "https://example.com/u?e=jane.doe%40example.com&x=1",
		"deep":          []any{map[string]any{"jane.doe@example.com": "rfc822;jane.doe@example.com"}},
		"count":         json.Number("1.50"),
		"bounce_type":   "Permanent",
	}
	metadata, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	d := setup(t)
	d.record(newEvent("m", messages.Send, timeBefore(5*hour), string(metadata)), newBounce("m", "Permanent", "NoEmail", timeBefore(4*hour), string(metadata)))
	everything := func() string {
		d.surface = core.REST
		all := d.must("messages_list", `{}`) + d.must("messages_get", `{"id":"m"}`) + d.must("messages_events", `{"id":"m"}`)
		d.surface = core.Agent
		return all + d.must("messages_search", `{}`) + d.must("messages_diagnose", `{"message_id":"m"}`)
	}
	masked := strings.ToLower(everything())
	for _, part := range []string{"jane.doe", "ane.doe", "secret.person", "person@"} {
		if at := strings.Index(masked, part); at >= 0 {
			t.Errorf("%q is in … %s", part, masked[max(0, at-100):at+50])
		}
	}
	contains(t, masked, "j***@example.com", "s***@example.net", "u?e***%40example.com", "user j*** unknown", "1.50", `"permanent"`)
	// two members "metadata" in all: that of the Bounce over REST and that of the Bounce for
	// agents; the Send has none
	if strings.Count(masked, `"metadata"`) != 2 {
		t.Error(masked)
	}
	d.withoutMask()
	contains(t, everything(), jane, "user jane.doe unknown", "secret.person@example.net", "jane.doe%40example.com")
}

// TestSubjectsHideTheNamesOfAllRecipients checks that a subject is masked if it contains
// the local part of any recipient's address, not only of the first.
func TestSubjectsHideTheNamesOfAllRecipients(t *testing.T) {
	t.Parallel()
	d := setup(t)
	for _, to := range []string{jane, "second.person@example.net"} {
		e := newEvent("m", messages.Delivery, timeBefore(hour), "")
		e.ID, e.Recipient, e.Mail.Subject = "to "+to, to, "A note for second.person and jane.doe"
		d.record(e)
	}
	everything := func() string {
		d.surface = core.REST
		all := d.must("messages_list", `{}`) + d.must("messages_get", `{"id":"m"}`)
		d.surface = core.Agent
		return all + d.must("messages_search", `{}`) + d.must("messages_diagnose", `{"message_id":"m"}`)
	}
	if masked := everything(); strings.Count(masked, "A note for s*** and j***") != 4 {
		t.Error(masked)
	}
	d.withoutMask()
	if shown := everything(); strings.Count(shown, "A note for second.person and jane.doe") != 4 {
		t.Error(shown)
	}
}

// TestMetadataThatIsNoObjectIsLeftOut checks that metadata that is not a JSON object with
// members is omitted, also for callers who may see addresses.
func TestMetadataThatIsNoObjectIsLeftOut(t *testing.T) {
	t.Parallel()
	d := setup(t)
	for i, metadata := range []string{`[]`, `null`, `"x"`, `{`, `{}`} {
		e := newEvent("m", messages.Delivery, timeBefore(hour), metadata)
		e.ID += string(rune('a' + i))
		d.record(e)
	}
	for range 2 {
		if got := d.must("messages_events", `{"id":"m"}`); strings.Contains(got, "metadata") {
			t.Error(got)
		}
		d.withoutMask()
	}
}

// TestStrangeRecipientsAreMasked checks that recipients are masked even if Mailhelm would
// refuse their addresses as invalid. A provider may accept such addresses.
func TestStrangeRecipientsAreMasked(t *testing.T) {
	t.Parallel()
	for _, recipient := range []string{`"jane doe"@example.com`, "jäne.döe@exämple.com", "jane.doe\xff@example.com", "jane.doe", "a.jane@b@example.com"} {
		d := setup(t)
		e := newEvent("m", messages.Delivery, timeBefore(hour), `{"smtp_response":"ok for jane.doe@example.com"}`)
		e.Recipient, e.Mail.To, e.Mail.Subject = strings.ToValidUTF8(recipient, "?"), []string{strings.ToValidUTF8(recipient, "?")}, ""
		d.record(e)
		d.surface = core.Agent
		got := d.must("messages_diagnose", `{"message_id":"m"}`)
		for _, name := range []string{"jane doe", "jäne", "jane"} {
			if strings.Contains(got, name) {
				t.Errorf("%q of %q is in %s", name, recipient, got)
			}
		}
	}
}
