package config

// Derived returns, by flag, the derived values of the settings that are empty. The keys
// are the names of flags without dashes. `mailhelm config` shows the values as derived.
// It may return values of settings that are set; the caller ignores them.
func (s Settings) Derived() map[string]string {
	cfg := s.Server()
	public := cfg.Complete()
	derived := map[string]string{
		"base-url": public.API, "auth-url": public.Auth, "app-url": public.App,
		"mcp-url": public.MCP, "fetch-url": public.Fetch, "docs-url": public.Docs,
		"api-addr": cfg.Listen.API, "app-addr": cfg.Listen.App, "mcp-addr": cfg.Listen.MCP,
		"fetch-addr": cfg.Listen.Fetch, "smtp-addr": cfg.Listen.SMTP, "admin-addr": cfg.Listen.Admin,
		"master-key": "in " + cfg.MasterKeyFile(),
	}
	if s.DatabaseURL == "" {
		derived["database-url"] = "SQLite in " + s.Data
	}
	return derived
}
