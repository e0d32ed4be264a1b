package config

import (
	"strings"
	"testing"
)

func TestScannersAreOptional(t *testing.T) {
	t.Parallel()
	if u, err := (Config{}).Rspamd(); u != nil || err != nil {
		t.Errorf("%v, %v", u, err)
	}
	if at, configured, err := (Config{}).ClamAV(); configured || err != nil {
		t.Errorf("%v, %t, %v", at, configured, err)
	}
}

func TestRspamd(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		"http://127.0.0.1:11333": true, "https://rspamd.example.com": true, "http://[::1]:11333/": true, "http://proxy.example.com/rspamd": true,
		"127.0.0.1:11333": false, "rspamd": false, "unix:/run/rspamd": false, "http://": false, "http://:11333": false,
		"http://u:secret@127.0.0.1:11333": false, "http://secret@127.0.0.1": false, "http://127.0.0.1/?x": false,
		"http://127.0.0.1?": false, "http://127.0.0.1#x": false, "http://secret%zz": false,
	} {
		cfg := Config{DataDir: "x", Role: All, RspamdURL: text}
		u, err := cfg.Rspamd()
		if (err == nil) != valid || valid && u.String() != text || (cfg.Check() == nil) != valid {
			t.Errorf("%s: %v, %v", text, u, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "--rspamd-url") || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestClamAV(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ClamdAddress{
		"127.0.0.1:3310":             {"tcp", "127.0.0.1:3310"},
		"[::1]:3310":                 {"tcp", "[::1]:3310"},
		"clamd.example.com:3310":     {"tcp", "clamd.example.com:3310"},
		"unix:/run/clamav/clamd.ctl": {"unix", "/run/clamav/clamd.ctl"},
		"unix:clamd.ctl":             {}, "unix:": {}, "/run/clamav/clamd.ctl": {}, "127.0.0.1": {}, ":3310": {}, "127.0.0.1:": {},
		"127.0.0.1:0": {}, "127.0.0.1:65536": {}, "127.0.0.1:clamd": {}, "tcp://127.0.0.1:3310": {}, "u@127.0.0.1:3310": {},
	} {
		cfg := Config{DataDir: "x", Role: All, Clamd: text}
		got, configured, err := cfg.ClamAV()
		if valid := want != (ClamdAddress{}); got != want || configured != valid || (err == nil) != valid || (cfg.Check() == nil) != valid {
			t.Errorf("%s: %v, %t, %v", text, got, configured, err)
		}
		if err != nil && !strings.Contains(err.Error(), "--clamd "+text) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
