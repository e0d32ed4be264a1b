package attacks_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// cleanupWait is how long a test waits until the server has ended interrupted calls. It
// allows for a busy machine.
const cleanupWait = 10 * time.Second

// restWhenFree repeats a call of the REST API while the server refuses it because another
// call with the same idempotency key or address is running.
func (c caller) restWhenFree(t *testing.T, method, path, body string, headers ...string) reply {
	t.Helper()
	var got reply
	product.Await(t, cleanupWait, func() error {
		if got = c.rest(t, method, path, body, headers...); got.status == http.StatusConflict && got.header.Get("Retry-After") != "" {
			return fmt.Errorf("the repeated call is answered %d %.200s", got.status, got.body)
		}
		return nil
	})
	return got
}

// hangUp sends a request and disconnects when ctx ends. It ignores the response.
func (c caller) hangUp(ctx context.Context, t *testing.T, method, address, body string, headers ...string) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+c.credential)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if answer, err := c.HTTP.Do(r); err == nil {
		answer.Body.Close()
	}
}

// TestHangingUpFreesKeyAndAddress checks a client that disconnects during a write. The
// server must then release the idempotency key and the lock of the address, so that a
// repeated call is carried out.
func TestHangingUpFreesKeyAndAddress(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		c := caller{p, p.Live.APIKey}
		// false: the sending account did not store the interrupted write; true: it did
		for _, took := range []bool{false, true} {
			email := fmt.Sprintf("gone-%v@example.com", took)
			p.Simulator.Faults().Set(simulator.Fault{Method: simulator.MethodPutContact, Delay: simulator.Forever, TookEffect: took})
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			c.hangUp(ctx, t, "PUT", p.BaseURL+"/v1/contacts/"+email, `{"unsubscribe_all":true}`, "Idempotency-Key", email)
			cancel()
			p.Simulator.Faults().Clear()
			product.Await(t, cleanupWait, func() error {
				got := c.rest(t, "PUT", "/v1/contacts/"+email, `{"unsubscribe_all":true}`, "Idempotency-Key", email)
				if replayed := got.header.Get("Idempotent-Replayed"); got.status != http.StatusCreated || replayed != "" {
					return fmt.Errorf("the repeated call is answered %d, replayed %q: %.200s", got.status, replayed, got.body)
				}
				return nil
			})
		}
	})
}

// TestHangingUpLeavesNothingRunning checks that tool calls end when their clients
// disconnect. It counts goroutines by a pprof label, which the product's goroutines inherit
// from the test, so that other tests are not counted.
func TestHangingUpLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	label := "attack-" + t.Name()
	pprof.Do(t.Context(), pprof.Labels("test", label), func(context.Context) {
		p := product.Start(t, product.Options{})
		agent := caller{p, p.Token(t, p.MCPURL)}
		p.Simulator.Faults().Set(simulator.Fault{Method: simulator.MethodContact, Delay: simulator.Forever})
		ctx, leave := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		for i := range 24 {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":%q}}}`, i, p.Contact)
			calls.Go(func() { agent.hangUp(ctx, t, "POST", p.MCPURL+"/mcp", body) })
		}
		awaitRunning(t, label, func(n int) bool { return n >= 24 })
		leave()
		calls.Wait()
		awaitRunning(t, label, func(n int) bool { return n == 0 })
	})
}

// running is the beginning of the names of functions that handle tool calls. A goroutine
// has such a function on its stack while it runs a tool call.
const running = "mailhelm/tools."

// awaitRunning counts the goroutines that have the pprof label and run a tool call. It
// waits until the function right returns true for their number.
func awaitRunning(t *testing.T, label string, right func(n int) bool) {
	t.Helper()
	product.Await(t, cleanupWait, func() error {
		if n := labelled(t, label, running); !right(n) {
			return fmt.Errorf("%d goroutines run tool calls", n)
		}
		return nil
	})
}

// labelled counts the goroutines that have the given pprof label and are inside a function
// whose name contains the text in function.
func labelled(t *testing.T, label, function string) int {
	t.Helper()
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, group := range strings.Split(profile.String(), "\n\n") {
		var n int
		if strings.Contains(group, label) && strings.Contains(group, function) {
			if _, err := fmt.Sscanf(strings.TrimSpace(group), "%d @", &n); err == nil {
				count += n
			}
		}
	}
	return count
}

// TestStoppingFinishesWhatIsUnderWay checks that a stopping server completes a request that
// it is already reading. The body of the request arrives after the server has closed its
// listener.
func TestStoppingFinishesWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	answered := make(chan int, 1)
	t.Run("product", func(t *testing.T) {
		p := product.Start(t, product.Options{})
		api, err := url.Parse(p.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		body, write := io.Pipe()
		reading := make(chan struct{})
		ctx := httptrace.WithClientTrace(context.WithoutCancel(t.Context()), &httptrace.ClientTrace{Got100Continue: func() { close(reading) }})
		r, err := http.NewRequestWithContext(ctx, "PUT", p.BaseURL+"/v1/contacts/last@example.com", body)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+p.Live.APIKey)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Expect", "100-continue")
		client := http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
		go func() {
			defer close(answered)
			if answer, err := client.Do(r); err == nil {
				answered <- answer.StatusCode
				answer.Body.Close()
			}
		}()
		<-reading
		go func() {
			for range 10000 {
				conn, err := net.Dial("tcp", api.Host)
				if err != nil {
					break
				}
				conn.Close() //nolint:errcheck // it was opened to see whether it can be
			}
			io.WriteString(write, `{}`) //nolint:errcheck // the answer tells
			write.Close()               //nolint:errcheck // the answer tells
		}()
	})
	if status := <-answered; status != http.StatusCreated {
		t.Errorf("the call under way was answered %d", status)
	}
}
