package doctor

import (
	"context"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/scanners"
)

// scanners asks the configured scanners of received mail for a sign of life. A failure is a
// Warn: mail is received without a scanner, and its verdict says so.
func (e *examination) scanners(ctx context.Context) {
	clients, err := scanners.Clients(e.cfg)
	if err != nil {
		return // e.settings has already reported err
	}
	flags := map[string]string{scanners.Rspamd: "--rspamd-url", scanners.Clamd: "--clamd"}
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		if err := clients[name].Ping(ctx); err != nil {
			e.add(name, Warn, err.Error(), "Check "+flags[name]+" and that "+name+" accepts connections from here. Until it answers, the verdict of received messages is PROCESSING_FAILED.")
			continue
		}
		e.add(name, OK, "answers; received messages are scanned", "")
	}
}
