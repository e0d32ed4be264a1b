package incoming

import (
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

// newAuthenticator returns what checks SPF, DKIM and DMARC, with the configured name servers.
func newAuthenticator(cfg config.Config) *verify.Authenticator {
	a := &verify.Authenticator{Clock: cfg.Clock, Log: cfg.Log}
	var remembered *verify.Memory
	switch servers := cfg.DNSServers; {
	case cfg.NoDNS():
		return a
	case len(servers) == 0:
		remembered = verify.Remember(resolver.Through(), resolver.System(), cfg.Clock)
	default:
		remembered = verify.Remember(resolver.Through(servers...), &resolver.Resolver{Servers: servers}, cfg.Clock)
	}
	a.Resolver, a.Existence = remembered, remembered
	return a
}
