package fetch_test

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/outbound"
	"github.com/mailhelm/mailhelm/core/outbound/fetch"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

var errNotDialled = errors.New("a test connects to the loopback only")

// dials records the addresses that the Guard allowed. Its method refuse is a Config.Refuse
// that refuses all addresses except loopback, so that tests connect to no other host.
type dials struct {
	mu      sync.Mutex
	allowed []string
}

func (d *dials) refuse(_, address string, _ syscall.RawConn) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.allowed = append(d.allowed, address)
	if to, err := netip.ParseAddrPort(address); err != nil || !to.Addr().IsLoopback() {
		return errNotDialled
	}
	return nil
}

// limits returns a Config whose Guard allows connections to the networks in allowed. It
// also returns the record of the addresses to which this Guard has allowed connections.
func limits(allowed []netip.Prefix) (fetch.Config, *dials) {
	d := &dials{}
	return fetch.Config{
		Guard: outbound.New(allowed, 443), Refuse: d.refuse, Schemes: []string{"https"}, Time: 10 * time.Second,
		MaxBody: 1000, MaxHeader: 4000, UserAgent: "Mailhelm/test",
	}, d
}

// site starts a TLS server on the loopback. It returns a Config that trusts its certificate
// and allows loopback, and the record of the addresses that the Guard allows.
func site(t *testing.T, handler http.HandlerFunc) (*httptest.Server, fetch.Config, *dials) {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	s.StartTLS()
	t.Cleanup(s.Close)
	config, d := limits(loopback)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	config.RootCAs = func() *x509.CertPool { return roots }
	return s, config, d
}
