package config

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
)

// probeTimeout limits the time of one probe, from connecting to the response.
const probeTimeout = 2 * time.Second

// ClientHeader is the header in answers of [HealthPath] of the API that has the address of the
// caller, as the server sees it. `mailhelm doctor` examines the proxy with it.
const ClientHeader = "X-Mailhelm-Client"

// HealthPath returns the path at which a web service answers 200 as long as its process runs.
func HealthPath(service string) string {
	return map[string]string{
		APIService: "/v1/_health", AppService: "/.well-known/oauth-authorization-server", MCPService: "/mcp/_health",
		FetchService: "/_health", AssetService: "/_health", AdminService: "/livez",
	}[service]
}

// Probe returns nil if a Mailhelm service answers on the listen address. It needs no
// credential and waits at most two seconds.
func (p Port) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	if p.Service == SMTPService {
		return checkGreeting(ctx, p.Addr)
	}
	path := HealthPath(p.Service)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Addr+path, nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	// If several services share the address, the Host header of this request matches none of
	// them, and the server answers 421.
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusMisdirectedRequest {
		return fmt.Errorf("%s answers with status %d", r.URL, answer.StatusCode)
	}
	return nil
}

// checkGreeting returns nil if the server at addr greets with status 220, as SMTP requires
// (RFC 5321 section 4.2). It sends nothing. It waits until the deadline of ctx.
func checkGreeting(ctx context.Context, addr string) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // nothing was sent
	if deadline, ok := ctx.Deadline(); ok {
		if err := conn.SetReadDeadline(deadline); err != nil {
			return err
		}
	}
	greeting, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.HasPrefix(greeting, "220 ") {
		err = errors.New("the server's greeting is not SMTP")
	}
	return err
}
