package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestPublishedAddresses(t *testing.T) {
	t.Parallel()
	cfg := Config{DataDir: t.TempDir()}
	if got := cfg.Published(); got != (Public{}) {
		t.Errorf("without a server: %+v", got)
	}
	for _, want := range []Public{
		{API: "http://localhost:1", Auth: "http://localhost:2", App: "http://localhost:2", MCP: "http://localhost:3", Fetch: "http://localhost:4", Docs: "http://localhost:2/docs"},
		{API: "https://api.example.com", Auth: "https://auth.example.com", App: "https://app.example.com", MCP: "https://mcp.example.com"},
	} {
		if err := cfg.Publish(want); err != nil {
			t.Fatal(err)
		}
		if got := cfg.Published(); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	path := filepath.Join(cfg.DataDir, publishedFile)
	if files, err := os.ReadDir(cfg.DataDir); len(files) != 1 || err != nil {
		t.Errorf("the data folder has %v, %v", files, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, text := range []string{"", "{", `{"App":"javascript:alert(1)"}`} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := cfg.Published(); got != (Public{}) {
			t.Errorf("%q: %+v", text, got)
		}
	}
}
