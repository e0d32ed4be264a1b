package unsubscribe_test

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

const (
	orgID     = "0190c3a0-0000-7000-8000-00000000000a"
	otherOrg  = "0190c3a0-0000-7000-8000-00000000000b"
	contactID = "0190c3a0-0000-7000-8000-0000000000ca"
	sendID    = "0190c3a0-0000-7000-8000-0000000005ed"
	app       = "https://app.example.com"
)

// newLinks returns Links with the key that a master key gives for the purpose.
func newLinks(tb testing.TB, master byte, purpose string) *unsubscribe.Links {
	tb.Helper()
	raw := make([]byte, 32)
	raw[0] = master
	key, err := signing.NewMasterKey(raw)
	must(tb, err)
	derived, err := key.Derive(purpose, unsubscribe.KeyBytes)
	must(tb, err)
	links, err := unsubscribe.NewLinks(derived, app)
	must(tb, err)
	return links
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// linkFor returns the link of a recipient, and its token.
func linkFor(tb testing.TB, links *unsubscribe.Links, org string, r unsubscribe.Recipient) (unsubscribe.Link, string) {
	tb.Helper()
	link, err := links.For(org, r)
	must(tb, err)
	return link, strings.TrimPrefix(link.Unsubscribe, app+unsubscribe.Path)
}

// TestLinksHaveTheirRecipients checks that a link is parsed to what it was made for, that it
// has the same text in each process, and that it is short and safe in an address.
func TestLinksHaveTheirRecipients(t *testing.T) {
	t.Parallel()
	links, same := newLinks(t, 1, unsubscribe.KeyPurpose), newLinks(t, 1, unsubscribe.KeyPurpose)
	seen := map[string]bool{}
	for _, org := range []string{orgID, otherOrg} {
		for _, r := range []unsubscribe.Recipient{
			{ContactID: contactID},
			{SendID: contactID},
			{},
			{ContactID: contactID, Topic: "news"},
			{ContactID: contactID, SendID: sendID},
			{ContactID: contactID, SendID: sendID, Topic: "product_updates-2"},
			{ContactID: contactID, SendID: sendID, Topic: strings.Repeat("ü", 127)},
			{ContactID: core.NewID(), Topic: "New\x00s"},
		} {
			link, token := linkFor(t, links, org, r)
			got, ok := same.Parse(token)
			if want := (unsubscribe.Token{OrgID: org, Recipient: r}); !ok || got != want {
				t.Errorf("%+v: parsed %+v, %v", want, got, ok)
			}
			if _, again := linkFor(t, same, org, r); again != token || seen[token] {
				t.Errorf("%+v: the tokens %s and %s", r, token, again)
			}
			seen[token] = true
			if strings.Trim(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") != "" || link.Preferences != link.Unsubscribe+"/preferences" {
				t.Errorf("%+v: %+v", r, link)
			}
			if len(r.Topic) <= 20 && len(token) > 115 {
				t.Errorf("%+v: the token has %d characters", r, len(token))
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	link, token := linkFor(t, newLinks(t, 1, unsubscribe.KeyPurpose), orgID, unsubscribe.Recipient{ContactID: contactID, Topic: "news"})
	want := []sending.Header{
		{Name: "List-Unsubscribe", Value: "<https://app.example.com/u/" + token + ">"},
		{Name: "List-Unsubscribe-Post", Value: "List-Unsubscribe=One-Click"},
	}
	if diff := cmp.Diff(want, link.Headers()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestForgedLinks checks that a link cannot be changed to that of another organization,
// contact, send, topic or version, and that keys for other purposes make no links.
func TestForgedLinks(t *testing.T) {
	t.Parallel()
	links := newLinks(t, 1, unsubscribe.KeyPurpose)
	r := unsubscribe.Recipient{ContactID: contactID, SendID: sendID, Topic: "news"}
	_, token := linkFor(t, links, orgID, r)
	_, others := linkFor(t, links, otherOrg, r)
	raw, other := decode(t, token), decode(t, others)
	if _, ok := links.Parse(encode(raw)); !ok {
		t.Fatal("the link itself is refused")
	}
	signature := len(raw) - 16
	forged := map[string][]byte{
		"nothing": {}, "only a signature": raw[signature:], "the signature is missing": raw[:signature],
		"another organization":                     append(append([]byte{}, other[:signature]...), raw[signature:]...),
		"a shorter topic":                          append(append([]byte{}, raw[:signature-1]...), raw[signature:]...),
		"no topic":                                 append(append([]byte{}, raw[:signature-4]...), raw[signature:]...),
		"a longer topic":                           append(append(append([]byte{}, raw[:signature]...), 's'), raw[signature:]...),
		"the signature of a longer text":           append(append([]byte{}, raw...), 0),
		"the ids of contact and send are switched": append(append(append(append([]byte{}, raw[:18]...), raw[34:50]...), raw[18:34]...), raw[50:]...),
	}
	for i := range raw {
		for _, bit := range []byte{1, 2, 128} {
			changed := append([]byte{}, raw...)
			changed[i] ^= bit
			forged["byte "+string(rune('0'+i))+string(rune('0'+bit))] = changed
		}
	}
	for name, bytes := range forged {
		if got, ok := links.Parse(encode(bytes)); ok {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
	for name, text := range map[string]string{"padding": token + "=", "spaces": token + " ", "lower case": strings.ToLower(token), "too long": strings.Repeat(token, 9), "other alphabet": "+/" + token[2:]} {
		if got, ok := links.Parse(text); ok {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
	for name, foreign := range map[string]*unsubscribe.Links{
		"another master key": newLinks(t, 2, unsubscribe.KeyPurpose), "the key of confirmations": newLinks(t, 1, "mailhelm confirmation 1"),
	} {
		if _, ok := foreign.Parse(token); ok {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestLastBitsOfTokens checks that a token has one spelling: unused bits of its last
// character must be zero.
func TestLastBitsOfTokens(t *testing.T) {
	t.Parallel()
	links := newLinks(t, 1, unsubscribe.KeyPurpose)
	for _, topic := range []string{"n", "ne", "new"} {
		_, token := linkFor(t, links, orgID, unsubscribe.Recipient{ContactID: contactID, Topic: topic})
		for _, last := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			text := token[:len(token)-1] + string(last)
			if _, ok := links.Parse(text); ok != (text == token) {
				t.Errorf("topic %s: %s accepted %v", topic, text, ok)
			}
		}
	}
}

func TestLinksOfInvalidRecipients(t *testing.T) {
	t.Parallel()
	links := newLinks(t, 1, unsubscribe.KeyPurpose)
	for name, c := range map[string]struct {
		org string
		unsubscribe.Recipient
	}{
		"no organization":    {"", unsubscribe.Recipient{ContactID: contactID}},
		"upper case":         {strings.ToUpper(orgID), unsubscribe.Recipient{ContactID: contactID}},
		"an address":         {orgID, unsubscribe.Recipient{ContactID: "ada@example.com"}},
		"no hyphens":         {orgID, unsubscribe.Recipient{ContactID: strings.ReplaceAll(contactID, "-", "0")}},
		"a hyphen elsewhere": {orgID, unsubscribe.Recipient{ContactID: contactID, SendID: sendID[:35] + "-"}},
		"a longer id":        {orgID, unsubscribe.Recipient{ContactID: contactID + "0"}},
		"a long topic":       {orgID, unsubscribe.Recipient{ContactID: contactID, Topic: strings.Repeat("x", 256)}},
	} {
		if link, err := links.For(c.org, c.Recipient); err == nil || link.Unsubscribe != "" {
			t.Errorf("%s: made %+v", name, link)
		}
	}
	if _, err := unsubscribe.NewLinks(make([]byte, 16), app); err == nil {
		t.Error("a short key was accepted")
	}
}

func decode(t *testing.T, token string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(token)
	must(t, err)
	return raw
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// TestLinksAllocateLittle checks that a link needs one allocation: the text of both
// addresses. It counts the allocations of the whole process, so it does not run in parallel.
// Under the race detector a sync.Pool forgets some values on purpose, and a link then makes
// them again; so the test takes the least of many counts, each of one link.
func TestLinksAllocateLittle(t *testing.T) {
	links := newLinks(t, 1, unsubscribe.KeyPurpose)
	r := unsubscribe.Recipient{ContactID: contactID, SendID: sendID, Topic: "news"}
	least := math.Inf(1)
	for range 100 {
		least = min(least, testing.AllocsPerRun(1, func() {
			if _, err := links.For(orgID, r); err != nil {
				t.Fatal(err)
			}
		}))
	}
	if least != 1 {
		t.Errorf("%v allocations", least)
	}
}

func BenchmarkLink(b *testing.B) {
	links := newLinks(b, 1, unsubscribe.KeyPurpose)
	r := unsubscribe.Recipient{ContactID: contactID, SendID: sendID, Topic: "news"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := links.For(orgID, r); err != nil {
			b.Fatal(err)
		}
	}
}
