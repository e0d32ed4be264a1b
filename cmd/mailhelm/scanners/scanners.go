// Package scanners opens the scanners of received mail that are configured: rspamd for spam
// and clamd for malware.
package scanners

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/clamd"
	"github.com/mailhelm/mailhelm/core/inbound/rspamd"
	"github.com/mailhelm/mailhelm/core/inbound/scanning"
	"github.com/prometheus/client_golang/prometheus"
)

// The names of the scanners in metrics and in the log.
const (
	Rspamd = "rspamd"
	Clamd  = "clamd"
)

// Clients returns the clients of the configured scanners, by their names, without limits. The
// error names the flag.
func Clients(cfg config.Config) (map[string]scanning.Client, error) {
	clients := map[string]scanning.Client{}
	spam, err := cfg.Rspamd()
	if err != nil {
		return nil, err
	}
	if spam != nil {
		clients[Rspamd] = rspamd.New(spam)
	}
	virus, configured, err := cfg.ClamAV()
	if err != nil {
		return nil, err
	}
	if configured {
		clients[Clamd] = clamd.New(virus.Network, virus.Address)
	}
	return clients, nil
}

// Open returns the scanners for spam and for malware, with the default limits of package
// scanning. A scanner that is not configured is nil. No connection is made before the first
// scan. Open registers metrics, so call it once for each registry. The error names the flag.
func Open(cfg config.Config, metrics prometheus.Registerer) (spam, virus inbound.Scanner, err error) {
	clients, err := Clients(cfg)
	if err != nil {
		return nil, nil, err
	}
	counted := scanning.NewMetrics(metrics)
	open := func(name string) inbound.Scanner {
		client, configured := clients[name]
		if !configured {
			return nil
		}
		return scanning.Bound(client, scanning.Config{Name: name, Clock: cfg.Clock, Log: cfg.Log, Metrics: counted})
	}
	return open(Rspamd), open(Clamd), nil
}
