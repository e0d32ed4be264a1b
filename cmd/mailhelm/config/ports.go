package config

// Port is an address to listen on.
type Port struct {
	// Service is api, app, mcp, fetch, smtp or admin.
	Service string
	Addr    string
}

// Flag returns the flag that sets the address.
func (p Port) Flag() string { return "--" + p.Service + "-addr" }

// Shares reports whether the service may share its address with others. Web services on
// one address are selected by the Host header. SMTP has no such header. The admin
// address must not be reachable through a public one.
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

// Ports returns the ports on which a process of this configuration listens.
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
