package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config/configtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/datafolder"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/monitoring"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/monitoring/overview"
	"github.com/mailhelm/mailhelm/core/installation"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/prometheus/client_golang/prometheus"
)

func testConfig(t *testing.T) config.Config {
	t.Helper()
	return config.Config{
		DataDir: filepath.Join(t.TempDir(), "data"), Listen: configtest.AnyPorts(), Role: config.All,
		Log: slog.New(slog.DiscardHandler), Build: config.Build{Version: "test", Commit: "abc123"},
	}
}

// running starts a host. The test ends if the start fails. The caller must stop the host.
func running(t *testing.T, cfg config.Config) *Host {
	t.Helper()
	h, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func stop(t *testing.T, h *Host) {
	t.Helper()
	if err := h.Stop(context.WithoutCancel(t.Context())); err != nil {
		t.Errorf("Stop: %v", err)
	}
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(body)
}

func TestProbeFindsEverythingAnswering(t *testing.T) {
	t.Parallel()
	h := running(t, testConfig(t))
	if err := h.Probe(t.Context()); err != nil {
		t.Error(err)
	}
	stop(t, h)
	if err := h.Probe(t.Context()); err == nil {
		t.Error("a stopped host still answers")
	}
}

// TestPreparationsEndBeforeTheHostWorks lets a caller call a host that is being prepared. Until it is, no
// job runs and nothing is served; then the caller gets its answer. A preparation that fails ends the start.
func TestPreparationsEndBeforeTheHostWorks(t *testing.T) {
	t.Parallel()
	cfg, broken := testConfig(t), errors.New("broken")
	var waiting sync.WaitGroup
	prepare := func(_ context.Context, h *Host) error {
		if h.jobs != nil || h.servers != nil || h.DB() == nil {
			t.Error("the host works before it is prepared")
		}
		waiting.Go(func() { get(t, h.Addresses().API+"/v1/_health") })
		return nil
	}
	fail := func(context.Context, *Host) error { return broken }
	if _, err := Start(t.Context(), cfg, fail); !errors.Is(err, broken) {
		t.Errorf("%v, want the failure of the preparation", err)
	}
	h, err := Start(t.Context(), cfg, prepare)
	if err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	if h.jobs == nil {
		t.Error("no jobs run")
	}
	stop(t, h)
}

func TestAdminAddress(t *testing.T) {
	t.Parallel()
	h := running(t, testConfig(t))
	defer stop(t, h)
	admin := h.Addresses().Admin
	get(t, h.Addresses().API+"/v1/contacts") // something to count
	status, metrics := get(t, admin+"/metrics")
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes", `commit="abc123"`} {
		if !strings.Contains(metrics, name) {
			t.Errorf("metrics (%d) lack %s", status, name)
		}
	}
	if status, body := get(t, admin+"/livez"); status != http.StatusOK {
		t.Errorf("liveness: %d %s", status, body)
	}
	if status, page := get(t, admin+"/"); status != http.StatusOK || !strings.Contains(page, "<title>Ready · Mailhelm server</title>") {
		t.Errorf("overview: %d %.300s", status, page)
	}
	if status, _ := get(t, admin+"/admin"); status != http.StatusNotFound {
		t.Errorf("unknown path: %d, want 404", status)
	}
	for _, public := range h.Addresses().URLs() {
		// Not every resolver knows the names below localhost.
		if status, _ := get(t, strings.Replace(public.URL, "images.localhost", "localhost", 1)+"/metrics"); status == http.StatusOK {
			t.Errorf("%s serves metrics to the public", public.Flag)
		}
	}
}

func TestReadinessFollowsDatabaseAndDraining(t *testing.T) {
	t.Parallel()
	h := running(t, testConfig(t))
	ready := h.Addresses().Admin + "/readyz"
	if status, body := get(t, ready); status != http.StatusOK || !strings.Contains(body, `"database":"ok"`) {
		t.Errorf("at first: %d %s", status, body)
	}
	if err := errors.Join(h.jobs.Stop(t.Context()), h.stores.db.Close()); err != nil {
		t.Fatal(err)
	}
	status, body := get(t, ready)
	if status != http.StatusServiceUnavailable || !strings.Contains(body, `"database":"failed"`) {
		t.Errorf("without database: %d %s", status, body)
	}
	if !strings.Contains(body, `"causes":{"database":"the database was closed`) {
		t.Errorf("the answer does not tell the operator why: %s", body)
	}
	stop(t, h)
	other := running(t, testConfig(t))
	ready = other.Addresses().Admin + "/readyz"
	other.readiness.Drain()
	if status, body := get(t, ready); status != http.StatusServiceUnavailable || !strings.Contains(body, `"accepting":"failed"`) {
		t.Errorf("draining: %d %s", status, body)
	}
	stop(t, other)
}

func TestReadinessNeedsTheSchema(t *testing.T) {
	t.Parallel()
	cfg := withDefaults(testConfig(t))
	letGo, err := datafolder.Hold(cfg.DataDir, true)
	if err != nil {
		t.Fatal(err)
	}
	s := &stores{letGo: letGo}
	defer s.close() //nolint:errcheck // the test is over
	cfg.NoMigrate = true
	if err := s.open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "mailhelm migrate up") {
		t.Errorf("stores of an empty database opened: %v", err)
	}
	process := replay.NewProcess(replay.ProcessConfig{Role: "all"})
	metrics := prometheus.NewRegistry()
	readiness := &monitoring.Readiness{DB: s.db.DB, Process: process, Log: cfg.Log}
	admin := httptest.NewServer(monitoring.Handler(metrics, readiness, overview.NewHistory(metrics, cfg.Clock)))
	defer admin.Close()
	if status, body := get(t, admin.URL+"/readyz"); status != http.StatusServiceUnavailable ||
		!strings.Contains(body, `"migrations":"failed"`) || !strings.Contains(body, `"database":"ok"`) {
		t.Errorf("readiness of an empty database: %d %s", status, body)
	}
}

// TestAnAPIProcessWarnsOfAMissingWorker checks a process with the role api: it is ready without
// a worker, and says so in /readyz and in the metrics. Both follow a worker that starts and
// stops.
func TestAnAPIProcessWarnsOfAMissingWorker(t *testing.T) {
	t.Parallel()
	api, worker := testConfig(t), testConfig(t)
	api.DatabaseURL, api.Role = enginetest.PostgresURL(t), config.API
	worker.DatabaseURL, worker.Role, worker.DataDir = api.DatabaseURL, config.Worker, api.DataDir
	h := running(t, api)
	defer stop(t, h)
	admin := h.Addresses().Admin
	expect := func(warned bool, workers string) {
		t.Helper()
		for {
			status, body := get(t, admin+"/readyz")
			_, metrics := get(t, admin+"/metrics")
			if status != http.StatusOK {
				t.Fatalf("readiness: %d %s", status, body)
			}
			if strings.Contains(body, `"no_worker"`) == warned && strings.Contains(metrics, "\nmailhelm_processes{role=\"worker\"} "+workers+"\n") {
				return
			}
			if t.Context().Err() != nil {
				t.Fatalf("warned %t, %s workers: %s", warned, workers, body)
			}
		}
	}
	expect(true, "0")
	worker.Public = h.Addresses().Public
	w := running(t, worker)
	expect(false, "1")
	if a := w.Addresses(); a.SMTP != "" || h.Addresses().SMTP == "" {
		t.Errorf("SMTP addresses: the worker, which does not listen, has %q, and the API %q", a.SMTP, h.Addresses().SMTP)
	}
	stop(t, w)
	expect(true, "0")
}

// TestJobKindsAreShown checks that the metrics know all kinds of jobs that a server runs.
func TestJobKindsAreShown(t *testing.T) {
	t.Parallel()
	h := running(t, testConfig(t))
	defer stop(t, h)
	kinds := h.jobs.Kinds()
	slices.Sort(kinds)
	if shown := monitoring.JobKinds(); !slices.Equal(kinds, shown) {
		t.Errorf("the metrics show\n%v\nthe server runs\n%v", shown, kinds)
	}
}

func TestStopCutsOffWhatDoesNotFinish(t *testing.T) {
	t.Parallel()
	h := running(t, testConfig(t))
	conn, err := net.Dial("tcp", h.cfg.Listen.App)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() //nolint:errcheck // the test is over
	fmt.Fprint(conn, "POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
	// waits for the first byte of the response "100 Continue", which the server sends when
	// the handler reads the body
	if _, err := conn.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := h.Stop(over); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("Stop: %v, want that calls were cut off", err)
	}
	io.Copy(io.Discard, conn) //nolint:errcheck // returns only because the connection is over, however it ended
}

func TestFailedStartLeavesNothingOpen(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.DatabaseURL = "postgres://u:secretword@127.0.0.1:1/x"
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Listen.API = free.Addr().String()
	free.Close() //nolint:errcheck // the port is wanted free
	if _, err := Start(t.Context(), cfg); err == nil || strings.Contains(err.Error(), "secretword") {
		t.Errorf("Start: %v, want an error without the password", err)
	}
	l, err := net.Listen("tcp", cfg.Listen.API)
	if err != nil {
		t.Fatalf("the port is still taken: %v", err)
	}
	l.Close() //nolint:errcheck // it was opened to see whether it can be
}

func TestRestartOnTheSameFolder(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	for range 3 {
		h := running(t, cfg)
		if status, _ := get(t, h.Addresses().Auth+"/.well-known/jwks.json"); status != http.StatusOK {
			t.Errorf("key set: %d", status)
		}
		stop(t, h)
	}
	cfg.MasterKey = strings.Repeat("ab", 32)
	if _, err := Start(t.Context(), cfg); err == nil {
		t.Error("a host started with another master key than its database was made with")
	}
}

func TestAdminAndSMTPDoNotShare(t *testing.T) {
	t.Parallel()
	for _, service := range []string{config.SMTPService, config.AdminService} {
		cfg := testConfig(t)
		l := running(t, cfg)
		stop(t, l)
		cfg.Listen.API = l.cfg.Listen.API
		if service == config.SMTPService {
			cfg.Listen.SMTP = cfg.Listen.API
		} else {
			cfg.Listen.Admin = cfg.Listen.API
		}
		if h, err := Start(t.Context(), cfg); err == nil {
			stop(t, h)
			t.Errorf("%s shares the API's address", service)
		} else if !strings.Contains(err.Error(), "--"+service+"-addr") {
			t.Errorf("%s: %v", service, err)
		}
	}
}

// TestTheLogLevelFollowsTheDatabase checks that a running server applies the log level that is
// stored in its database, and the level of its settings when that is removed.
func TestTheLogLevelFollowsTheDatabase(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	cfg.LogLevel = new(slog.LevelVar)
	h := running(t, cfg)
	defer stop(t, h)
	for _, step := range []struct {
		value string
		want  slog.Level
	}{{installation.LogLevel{Level: slog.LevelDebug}.Value(), slog.LevelDebug}, {"", slog.LevelInfo}} {
		if err := h.DB().Installation().SetFact(t.Context(), installation.LogLevelFact, step.value, time.Now()); err != nil {
			t.Fatal(err)
		}
		for cfg.LogLevel.Level() != step.want {
			select {
			case <-t.Context().Done():
				t.Fatalf("the level is %s, want %s", cfg.LogLevel.Level(), step.want)
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
}
