package config

// Port is the listen address of one service.
type Port struct {
	// Service is api, app, mcp, fetch, asset, smtp or admin.
	Service string
	Addr    string
}

// Flag returns the name of the flag that sets this listen address.
func (p Port) Flag() string { return "--" + p.Service + "-addr" }

// Shares reports whether the service may listen on the same address as other services. Web
// services may, because the Host header selects the service. SMTP has no such header. The
// admin address must stay separate, because public addresses must not reach it.
func (p Port) Shares() bool { return p.Service != SMTPService && p.Service != AdminService }

// The services that listen.
const (
	APIService   = "api"
	AppService   = "app"
	MCPService   = "mcp"
	FetchService = "fetch"
	AssetService = "asset"
	SMTPService  = "smtp"
	AdminService = "admin"
)

// Ports returns the listen addresses of a process; a worker has only the admin address.
func (c Config) Ports() []Port {
	admin := Port{AdminService, c.Listen.Admin}
	if c.Role == Worker {
		return []Port{admin}
	}
	ports := []Port{
		{APIService, c.Listen.API},
		{AppService, c.Listen.App},
		{MCPService, c.Listen.MCP},
		{FetchService, c.Listen.Fetch},
		{SMTPService, c.Listen.SMTP},
		admin,
	}
	if c.Listen.Asset != "" {
		ports = append(ports, Port{AssetService, c.Listen.Asset})
	}
	return ports
}
