package config

import (
	"strings"
	"testing"
)

func TestReceiverName(t *testing.T) {
	t.Parallel()
	public := Public{App: "https://app.example.com:8443"}
	for want, c := range map[string]Config{
		"app.example.com": {}, "mx.example.com": {MailHost: "mx.example.com"}, "mail.example.com": {MailHost: "mx.example.com", SMTPName: "mail.example.com"},
	} {
		if got := c.ReceiverName(public); got != want {
			t.Errorf("%+v: %s, want %s", c, got, want)
		}
	}
	if got := (Config{}).ReceiverName(Public{App: "%"}); got != "localhost" {
		t.Errorf("without an address: %s", got)
	}
}

func TestCheckReceiver(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, {MailHost: "mx-1.Example.com", SMTPName: "localhost", SMTPCert: "a", SMTPKey: "b"}} {
		if err := c.checkReceiver(); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for says, c := range map[string]Config{
		`--mail-host "mx.example.com:25"`: {MailHost: "mx.example.com:25"}, `--mail-host "mx..example.com"`: {MailHost: "mx..example.com"},
		`--smtp-name "a\r\nb"`: {SMTPName: "a\r\nb"}, `--smtp-name "-a"`: {SMTPName: "-a"},
		"--mail-host":                {MailHost: strings.Repeat("a.", 127)},
		"--smtp-cert is set without": {SMTPCert: "a"},
		"--smtp-key is set without":  {SMTPKey: "a"},
	} {
		if err := c.checkReceiver(); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%+v: %v, want %s", c, err, says)
		}
	}
}
