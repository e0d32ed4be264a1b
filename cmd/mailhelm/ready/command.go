// Package ready is `mailhelm ready`: it asks the running server whether it can serve calls.
// It is the health check of a container, whose image has no shell and no other program.
package ready

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
)

const (
	// timeout limits the time of the request, from connecting to the end of the answer.
	timeout = 5 * time.Second
	// maxAnswer is the maximum number of bytes of the answer that are read.
	maxAnswer = 64 << 10
)

// Command is `mailhelm ready`.
type Command struct {
	config.Settings
	JSON bool `help:"Print the server's answer, one JSON object."`
}

// Help returns the text that --help shows below the summary.
func (Command) Help() string {
	return `Takes the same flags, variables and file as 'mailhelm serve', and asks the server at the admin address, /readyz. The exit status is 0 if the server is ready, and 1 if it is not ready or does not answer within 5 seconds. A warning, such as one about a missing worker, does not change the exit status.

Examples:

    mailhelm ready
    mailhelm ready --admin-addr 127.0.0.1:9090 --json`
}

// Run asks the server and prints its answer. It fails unless the server is ready.
func (c *Command) Run(p *cli.Program) error {
	address := c.Server().Listen.Admin
	got, err := ask(p.Ctx, address)
	if err != nil {
		return fmt.Errorf("no server answers at the admin address: %w. Start it, or name its address with --admin-addr", err)
	}
	ready := got.Status == isReady
	switch {
	case c.JSON:
		if err := p.PrintJSON(got); err != nil || ready {
			return err
		}
		return cli.ErrReported
	case ready:
		_, err := fmt.Fprint(p.Stdout, isReady, "\n", got.warned())
		return err
	}
	return fmt.Errorf("the server is not ready: %s", got.failed())
}

// isReady is the status in the answer of a server that is ready.
const isReady = "ready"

// answer is the answer of GET /readyz. Checks has the result of each check, "ok" or
// "failed", and Causes the cause of a failure, if it is known. Warnings are about what does
// not keep this server from answering calls, such as a missing worker.
type answer struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks"`
	Causes map[string]string `json:"causes,omitempty"`

	Warnings map[string]string `json:"warnings,omitempty"`
}

// warned returns a line for each warning, sorted by name.
func (a answer) warned() string {
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(a.Warnings)) {
		lines.WriteString(core.OnlyVisible("warning "+name+": "+a.Warnings[name]) + "\n")
	}
	return lines.String()
}

// failed returns a text with the failed checks and their causes, sorted by name. The text
// has no control characters, because another program may have answered.
func (a answer) failed() string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(a.Checks)) {
		if a.Checks[name] == "ok" {
			continue
		}
		if cause := a.Causes[name]; cause != "" {
			name += " (" + cause + ")"
		}
		texts = append(texts, name)
	}
	if len(texts) == 0 {
		return "its answer names no failed check"
	}
	return "these checks failed: " + core.OnlyVisible(strings.Join(texts, ", "))
}

// ask requests /readyz at the admin address of a server. If the address has no host, or one
// that means all addresses of the machine (0.0.0.0 or ::), ask uses localhost.
func ask(ctx context.Context, address string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return answer{}, err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return answer{}, err
	}
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true}, // without a proxy
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	var got answer
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&got); err != nil || got.Status == "" {
		return answer{}, fmt.Errorf("%s is the address of another program", address)
	}
	return got, nil
}
