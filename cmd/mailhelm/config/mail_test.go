package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSystemMail(t *testing.T) {
	t.Parallel()
	const from = "Mailhelm <mailhelm@example.com>"
	for address, want := range map[string]MailServer{
		"smtp://mail.example.com":                    {Address: "mail.example.com:587", From: from},
		"smtps://mail.example.com":                   {Address: "mail.example.com:465", ImplicitTLS: true, From: from},
		"smtps://u%40x:p%2Fq@mail.example.com:2465/": {Address: "mail.example.com:2465", User: "u@x", Password: "p/q", ImplicitTLS: true, From: from},
		"smtp://AKIA:secret@[::1]:2587":              {Address: "[::1]:2587", User: "AKIA", Password: "secret", From: from},
	} {
		got, configured, err := Config{SystemSMTP: address, SystemFrom: from}.SystemMail()
		if diff := cmp.Diff(want, got); err != nil || !configured || diff != "" {
			t.Errorf("%s: %v %v (-want +got):\n%s", address, configured, err, diff)
		}
	}
	for _, tc := range []struct{ address, from, says string }{
		{"smtp://mail.example.com", "", "--system-from"},
		{"", from, "--system-smtp"},
		{"mail.example.com:587", from, "smtp://"},
		{"http://u:secret@mail.example.com", from, "smtps://"},
		{"smtp://u:secret@%zz", from, "smtps://"},
		{"smtp://u:sec/ret@mail.example.com", from, "--system-smtp"},
		{"smtp://u:secret@mail.example.com/x", from, "percent-encode"},
		{"smtp://u:secret@mail.example.com?x", from, "percent-encode"},
		{"smtp://u@mail.example.com", from, "a user and a password"},
		{"smtp://:secret@mail.example.com", from, "a user and a password"},
		{"smtp://mail.example.com", "Mailhelm", "not an address"},
		{"smtp://mail.example.com", "a@example.com\r\nBcc: eve@example.net", "not an address"},
		{"smtp://mail.example.com", "a@example.com, b@example.com", "not an address"},
	} {
		_, _, err := Config{SystemSMTP: tc.address, SystemFrom: tc.from}.SystemMail()
		if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sec/ret") {
			t.Errorf("%s from %q: %v, want it to say %q", tc.address, tc.from, err, tc.says)
		}
	}
	if _, configured, err := (Config{}).SystemMail(); configured || err != nil {
		t.Errorf("nothing: %v, %v", configured, err)
	}
}
