package config

// Port is an address to listen on.
type Port struct {
	// Service is api, app, mcp, fetch, smtp or admin.
	Service string
	Addr    string
}

// Flag is what sets the address.
func (p Port) Flag() string { return "--" + p.Service + "-addr" }

// Shares reports whether the service may share its address: web services that name the same address share it, and the Host header
// tells them apart. SMTP has no such header, and the admin address must not be
// reachable through a public one.
func (p Port) Shares() bool { return p.Service != SMTPService && p.Service != AdminService }

// The services that listen.
const (
	APIService   = "api"
	AppService   = "app"
	MCPService   = "mcp"
	FetchService = "fetch"
	SMTPService  = "smtp"
	AdminService = "admin"
)

// Ports lists what a process of this configuration listens on.
func (c Config) Ports() []Port {
	admin := Port{AdminService, c.Listen.Admin}
	if c.Role == Worker {
		return []Port{admin}
	}
	return []Port{
		{APIService, c.Listen.API},
		{AppService, c.Listen.App},
		{MCPService, c.Listen.MCP},
		{FetchService, c.Listen.Fetch},
		{SMTPService, c.Listen.SMTP},
		admin,
	}
}
