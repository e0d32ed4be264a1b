package messages_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// TestLinksDoNotHideTheRecipient checks that addresses are masked in click URLs and server
// answers even if they are encoded, for example in base64. The caller lacks the scope that
// shows addresses.
func TestLinksDoNotHideTheRecipient(t *testing.T) {
	t.Parallel()
	std, raw := base64.StdEncoding.EncodeToString, base64.RawStdEncoding.EncodeToString
	web, rawWeb := base64.URLEncoding.EncodeToString, base64.RawURLEncoding.EncodeToString
	details := []byte(`{"email":"` + jane + `","x":"~~~???"}`)
	secrets := map[string]string{}
	for name, encode := range map[string]func([]byte) string{
		"base64": std, "base64 without padding": raw, "base64url": web, "base64url without padding": rawWeb,
		"hex": hex.EncodeToString, "upper hex": func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) },
		"percent":           func(b []byte) string { return percent(string(b)) },
		"percent twice":     func(b []byte) string { return url.QueryEscape(percent(string(b))) },
		"base64 in percent": func(b []byte) string { return url.QueryEscape(std(b)) },
		"base64 twice":      func(b []byte) string { return std([]byte(std(b))) },
		"hex of base64":     func(b []byte) string { return hex.EncodeToString([]byte(rawWeb(b))) },
		"base64 of percent": func(b []byte) string { return rawWeb([]byte(percent(string(b)))) },
	} {
		secrets[name] = encode([]byte(jane))
		secrets[name+" in JSON"] = encode(details)
		secrets[name+" of another"] = encode([]byte("to=secret.person@example.net&x"))
		secrets[name+" of the name"] = encode([]byte("for jane.doe only"))
	}
	d := setup(t)
	for name, secret := range secrets {
		metadata, err := json.Marshal(map[string]any{
			"click_url":     "https://t.example.com/c/" + secret + "/open?e=" + secret + "&u=1#" + secret,
			"smtp_response": "550 rejected, see https://x.example/p-" + secret + ".html (" + secret + ")",
		})
		if err != nil {
			t.Fatal(err)
		}
		d.record(newEvent(name, messages.Send, timeBefore(5*hour), ""), newEvent(name, messages.Click, timeBefore(4*hour), string(metadata)))
	}
	answersFor := func(id string) string {
		d.surface = core.REST
		all := d.must("messages_events", `{"id":"`+id+`"}`)
		d.surface = core.Agent
		return all + d.must("messages_diagnose", `{"message_id":"`+id+`"}`)
	}
	for name, secret := range secrets {
		if masked := answersFor(name); strings.Contains(masked, secret) || !strings.Contains(masked, "https://t.example.com/c/***") || !strings.Contains(masked, "u=1#***") {
			t.Errorf("%s: %s is in %s", name, secret, masked)
		}
	}
	d.withoutMask()
	for name, secret := range secrets {
		contains(t, answersFor(name), "/c/"+secret+"/open?e="+secret)
	}
}

// TestOtherCodesStay checks that encoded parts of a URL are not masked if they do not
// decode to an address.
func TestOtherCodesStay(t *testing.T) {
	t.Parallel()
	links := []string{
		"https://t.example.com/c/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08?utm_source=newsletter_october",
		"https://t.example.com/CL0/https:%2F%2Fshop.example%2Fsummer-sale%2Fshoes/1/0102018f0c6a9b1e-7f4c3b2a-000000/Zk3Jx0Wb7Q2v",
		"https://t.example.com/" + base64.StdEncoding.EncodeToString([]byte(`{"campaign":"october","link":3}`)),
		"https://t.example.com/01920f6e-7b1c-7def-8a55-0123456789ab/Recommendations%20for%20you",
	}
	d := setup(t)
	d.surface = core.REST
	for _, link := range links {
		metadata, err := json.Marshal(map[string]any{"click_url": link})
		if err != nil {
			t.Fatal(err)
		}
		d.record(newEvent(link, messages.Send, timeBefore(5*hour), ""), newEvent(link, messages.Click, timeBefore(4*hour), string(metadata)))
		if got := d.must("messages_events", `{"id":"`+link+`"}`); !strings.Contains(got, `"click_url":"`+link) {
			t.Errorf("%s became %s", link, got)
		}
	}
}

// percent returns s with every byte percent-encoded that is not a lower-case letter or a
// digit.
func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' {
			b.WriteByte(c)
		} else {
			b.WriteString("%" + strings.ToUpper(hex.EncodeToString([]byte{c})))
		}
	}
	return b.String()
}
