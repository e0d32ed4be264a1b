package dmarc_test

import (
	"log/slog"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/dmarc"
	"github.com/mailhelm/mailhelm/core"
)

// TestReportAddress checks that records name a report address only if receivers of mail can reach
// it. Names below localhost lead each receiver to itself (RFC 6761 section 6.3).
func TestReportAddress(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]bool{"": false, "inbox.localhost": false, "localhost": false, "in.example.com": true, "notlocalhost": true} {
		cfg := config.Config{InboxDomain: domain, Clock: core.SystemClock, Log: slog.New(slog.DiscardHandler), DNSServers: []string{"none"}}
		if got := dmarc.New(cfg, dmarc.Stores{}).Operations().Address != nil; got != want {
			t.Errorf("a report address at %q: %v", domain, got)
		}
	}
}
