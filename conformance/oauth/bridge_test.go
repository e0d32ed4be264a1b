package oauth_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/usage"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// bridge is a running `mailhelm mcp`, with the browser of a person who allows everything.
type bridge struct {
	asked   atomic.Int32
	session *mcp.ClientSession
	status  chan int
}

// runBridge runs `mailhelm mcp` for the product with the grants in files of the folder, and
// returns its status.
func runBridge(ctx context.Context, p *product.Product, folder string, in io.Reader, out, messages io.Writer, flags ...string) int {
	var commands struct {
		MCP connecting.MCP `cmd:"" name:"mcp"`
	}
	args := append([]string{"mcp", p.MCPURL, "--store", "file", "--store-folder", folder}, flags...)
	return cli.Run(ctx, &commands, args, cli.Surroundings{
		Stdin: in, Stdout: out, Stderr: messages, Lookup: func(string) (string, bool) { return "", false },
	})
}

// startBridge starts the bridge to the product and connects the official Go SDK over its
// standard input and output. It fails the test if that does not succeed.
func startBridge(t *testing.T, p *product.Product, v *visit, folder, revision string) *bridge {
	t.Helper()
	b := &bridge{status: make(chan int, 1)}
	in, toBridge := io.Pipe()
	fromBridge, out := io.Pipe()
	messages, stderr := io.Pipe()
	go func() {
		b.status <- runBridge(t.Context(), p, folder, in, out, stderr, "--no-browser")
		out.Close()    //nolint:errcheck // a pipe in memory
		stderr.Close() //nolint:errcheck // a pipe in memory
	}()
	go func() {
		for lines := bufio.NewScanner(messages); lines.Scan(); {
			if strings.HasPrefix(lines.Text(), p.AppURL) {
				b.asked.Add(1)
				follow(t, p, v.allow(lines.Text()))
			}
		}
	}()
	var err error
	b.session, err = mcp.NewClient(&mcp.Implementation{Name: "conformance", Version: "1.0.0"}, nil).Connect(
		t.Context(), &mcp.IOTransport{Reader: fromBridge, Writer: toBridge}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		t.Fatalf("%s: %v", revision, err)
	}
	return b
}

// stop closes the standard input of the bridge, which must then end without an error.
func (b *bridge) stop(t *testing.T) {
	t.Helper()
	if err := b.session.Close(); err != nil {
		t.Error(err)
	}
	if status := <-b.status; status != cli.ExitOK {
		t.Errorf("the bridge ended with status %d", status)
	}
}

// TestBridge checks `mailhelm mcp` with a client that speaks only over standard input and
// output: one sign-in lasts for an hour and for later starts with every revision, and a
// revoked grant leads to another sign-in.
func TestBridge(t *testing.T) {
	t.Parallel()
	p := product.Start(t, product.Options{DynamicRegistration: true})
	v, folder := newVisit(t, p), filepath.Join(t.TempDir(), "grants")
	first := startBridge(t, p, v, folder, "")
	call := func() error { return callLists(t, first.session) }
	liveAnHour(t, p, call, func() {
		if first.asked.Load() != 1 {
			t.Errorf("%d questions in an hour", first.asked.Load())
		}
		if err := call(); err != nil || first.asked.Load() != 2 {
			t.Errorf("after the end of the grant: %v, %d questions", err, first.asked.Load())
		}
	})
	first.stop(t)
	for _, revision := range []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"} {
		b := startBridge(t, p, v, folder, revision)
		if err := callLists(t, b.session); err != nil || b.asked.Load() != 0 {
			t.Errorf("%s: %v, %d questions", revision, err, b.asked.Load())
		}
		b.stop(t)
	}
	checkCounted(t, p, 11)
	signOut(t, p, folder)
}

// checkCounted checks that the product stores how often a tool was called, by its clients
// together. It stores the numbers every few seconds.
func checkCounted(t *testing.T, p *product.Product, want int64) {
	t.Helper()
	product.Await(t, time.Minute, func() error {
		rows, err := p.DB.Usage().Usage(t.Context(), p.OrgID, usage.Filter{Limit: 100})
		var calls int64
		for _, r := range rows {
			if r.Operation == "lists_list" && r.UserID != "" {
				calls += r.Calls
			}
		}
		if err == nil && calls != want {
			err = fmt.Errorf("%d calls are counted, want %d: %+v", calls, want, rows)
		}
		return err
	})
}

// signOut checks that `mailhelm mcp --sign-out` ends the grant.
func signOut(t *testing.T, p *product.Product, folder string) {
	t.Helper()
	var out strings.Builder
	status := runBridge(t.Context(), p, folder, http.NoBody, &out, &out, "--sign-out")
	if status != cli.ExitOK || len(grantsOf(t, p, "")) != 0 {
		t.Errorf("status %d, %d grants: %s", status, len(grantsOf(t, p, "")), out.String())
	}
}
