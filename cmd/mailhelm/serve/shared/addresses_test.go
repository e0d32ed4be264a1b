package shared

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestWorkersTakeOverTheAddressesOfServers checks which public addresses a worker has: its own
// before a server has started, then those of the server for each that it does not configure, and
// a warning for each configured one that differs.
func TestWorkersTakeOverTheAddressesOfServers(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		var logged bytes.Buffer
		cfg := config.Config{DataDir: t.TempDir(), Log: slog.New(slog.NewJSONHandler(&logged, nil)), Clock: time.Now, Listen: config.DefaultListen()}
		own := cfg.Complete()
		if got, err := ForWorker(t.Context(), cfg, own, db.Installation()); got != own || err != nil || !strings.Contains(logged.String(), "no server has stored") {
			t.Errorf("before a server: %+v, %v, %s", got, err, logged.String())
		}
		served := config.Public{
			API: "https://api.example.com", Auth: "https://auth.example.com", App: "https://app.example.com", MCP: "https://mcp.example.com",
			Fetch: "https://fetch.example.com", Docs: "https://app.example.com/docs", Asset: "https://images.example.net",
		}
		if err := Publish(t.Context(), cfg, served, db.Installation()); err != nil {
			t.Fatal(err)
		}
		logged.Reset()
		if got, err := ForWorker(t.Context(), cfg, own, db.Installation()); got != served || err != nil || logged.Len() > 0 {
			t.Errorf("without settings: %+v, %v, %s", got, err, logged.String())
		}
		cfg.Public.App, cfg.Public.API = "https://other.example.com", served.API
		want := served
		want.App = cfg.Public.App
		got, err := ForWorker(t.Context(), cfg, cfg.Complete(), db.Installation())
		if got != want || err != nil || strings.Count(logged.String(), "\n") != 1 || !strings.Contains(logged.String(), `"--app-url"`) {
			t.Errorf("with another address: %+v, %v, %s", got, err, logged.String())
		}
	})
}
