package config

// DerivedValues returns the values that are derived for empty settings. The keys are the
// names of flags without leading dashes. `mailhelm config` prints them. The result may also
// contain settings that are not empty; the caller ignores those.
func (s Settings) DerivedValues() map[string]string {
	cfg := s.Server()
	public := cfg.Complete()
	derived := map[string]string{
		"base-url": public.API, "auth-url": public.Auth, "app-url": public.App,
		"mcp-url": public.MCP, "fetch-url": public.Fetch, "docs-url": public.Docs,
		"api-addr": cfg.Listen.API, "app-addr": cfg.Listen.App, "mcp-addr": cfg.Listen.MCP,
		"fetch-addr": cfg.Listen.Fetch, "smtp-addr": cfg.Listen.SMTP, "admin-addr": cfg.Listen.Admin,
		"master-key-file": cfg.MasterKeyFile(),
	}
	if cfg.Listen.Asset != "" {
		derived["asset-url"], derived["asset-addr"] = public.Asset, cfg.Listen.Asset
	}
	if name := cfg.ReceiverName(public); s.SMTPName == "" {
		derived["smtp-name"] = name
	}
	if s.SMTPCert == "" {
		derived["smtp-cert"] = "self-signed, new at each start"
	}
	if s.DatabaseURL == "" {
		derived["database-url"] = "SQLite in " + s.Data
	}
	return derived
}
