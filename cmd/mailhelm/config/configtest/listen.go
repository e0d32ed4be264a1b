// Package configtest has parts of configurations for tests that start a server.
package configtest

import "github.com/mailhelm/mailhelm/cmd/mailhelm/config"

// AnyPorts returns listen addresses on 127.0.0.1; the system chooses free ports.
func AnyPorts() config.Listen {
	const free = "127.0.0.1:0"
	return config.Listen{API: free, App: free, MCP: free, Fetch: free, Asset: free, SMTP: free, Admin: free}
}
