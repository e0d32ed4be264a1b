package network

import (
	"errors"
	"net"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
)

// dial opens a connection to an address and closes it.
func dial(t *testing.T, addr string) error {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err == nil {
		conn.Close() //nolint:errcheck // it was opened to see whether it can be
	}
	return err
}

// TestListen checks that services with one address share a listener, that the port of
// 127.0.0.1 belongs to the process on ::1 too, and that a taken address closes what was
// opened before it.
func TestListen(t *testing.T) {
	t.Parallel()
	port := func(service, addr string) config.Port { return config.Port{Service: service, Addr: addr} }
	first, err := Listen(t.Context(), []config.Port{port(config.APIService, "127.0.0.1:0"), port(config.AppService, "127.0.0.1:0")})
	if err != nil {
		t.Fatal(err)
	}
	api, app := first[config.APIService].Addr().String(), first[config.AppService].Addr().String()
	if api == app {
		t.Errorf("two services with port 0 have the address %s", api)
	}
	if bound := first.BoundAddresses(config.Listen{SMTP: "127.0.0.1:25"}); bound.API != api || bound.SMTP != "127.0.0.1:25" {
		t.Errorf("bound: %+v", bound)
	}
	_, taken, _ := net.SplitHostPort(app)
	for _, host := range []string{"127.0.0.1", "::1"} {
		if err := dial(t, net.JoinHostPort(host, taken)); err != nil {
			t.Error(err)
		}
	}
	if err := first[config.APIService].Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Listen(t.Context(), []config.Port{port(config.APIService, api), port(config.AppService, app)})
	var inUse *config.AddressInUse
	if !errors.As(err, &inUse) || inUse.Port.Service != config.AppService {
		t.Errorf("a taken address: %v", err)
	}
	if dial(t, api) == nil {
		t.Errorf("%s still answers after the failed Listen", api)
	}
	shared, err := Listen(t.Context(), []config.Port{port(config.APIService, api), port(config.MCPService, api)})
	if err != nil {
		t.Fatal(err)
	}
	if shared[config.APIService] != shared[config.MCPService] {
		t.Error("two services with one address have two listeners")
	}
	if err := errors.Join(first.Close(), shared.Close(), shared.Close()); err != nil {
		t.Error(err)
	}
}
