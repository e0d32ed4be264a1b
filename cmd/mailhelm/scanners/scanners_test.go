package scanners_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/scanners"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/scanning"
	"github.com/mailhelm/mailhelm/core/inbound/scanning/scanningtest"
	"github.com/prometheus/client_golang/prometheus"
)

func scan(t *testing.T, s inbound.Scanner, message string) (inbound.Finding, error) {
	t.Helper()
	return s.Scan(t.Context(), inbound.Envelope{}, strings.NewReader(message), int64(len(message)))
}

// TestScannersComeAndGo stops and starts the real scanners. While they are gone messages
// fail, at the end without a try; when they are back messages are scanned again.
func TestScannersComeAndGo(t *testing.T) {
	t.Parallel()
	var later atomic.Int64 // what the clock is ahead
	clock := core.Clock(func() time.Time { return core.SystemClock().Add(time.Duration(later.Load())) })
	rspamd, clamd := scanningtest.StartRspamd(t), scanningtest.StartClamd(t)
	cfg := config.Config{RspamdURL: rspamd.URL.String(), Clamd: "unix:" + clamd.Socket, Clock: clock}
	spam, virus, err := scanners.Open(cfg, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name    string
		scanner inbound.Scanner
		bad     string
		daemon  interface {
			Stop()
			Start(tb testing.TB)
		}
	}{
		{"rspamd", spam, "Subject: x\r\n\r\n" + scanningtest.GTUBE() + "\r\n", rspamd},
		{"clamd", virus, "Subject: x\r\n\r\n" + scanningtest.MalwareMarker + "\r\n", clamd},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for range 3 {
				for message, want := range map[string]inbound.Verdict{tc.bad: inbound.Fail, "Subject: x\r\n\r\nHello\r\n": inbound.Pass} {
					if got, err := scan(t, tc.scanner, message); err != nil || got.Verdict != want {
						t.Fatalf("%+v, %v, want %s", got, err, want)
					}
				}
				tc.daemon.Stop()
				for i := range 10 {
					got, err := scan(t, tc.scanner, tc.bad)
					if err == nil || errors.Is(err, scanning.ErrPaused) != (i >= 3) {
						t.Fatalf("scan %d: %+v, %v", i, got, err)
					}
				}
				tc.daemon.Start(t)
				if got, err := scan(t, tc.scanner, tc.bad); !errors.Is(err, scanning.ErrPaused) {
					t.Fatalf("%+v, %v, want %v", got, err, scanning.ErrPaused)
				}
				later.Add(int64(time.Minute))
			}
		})
	}
}

func TestNothingConfigured(t *testing.T) {
	t.Parallel()
	spam, virus, err := scanners.Open(config.Config{}, prometheus.NewRegistry())
	if spam != nil || virus != nil || err != nil {
		t.Errorf("%v, %v, %v", spam, virus, err)
	}
	for _, cfg := range []config.Config{{RspamdURL: "rspamd"}, {Clamd: "clamd"}} {
		if spam, virus, err := scanners.Open(cfg, prometheus.NewRegistry()); spam != nil || virus != nil || err == nil {
			t.Errorf("%+v: %v, %v, %v", cfg, spam, virus, err)
		}
	}
}
