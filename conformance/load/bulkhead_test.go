package load

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
)

// attackedEvents is the number of open events of the organization that requests expensive
// segment previews. A preview over this many events takes seconds, but needs fewer steps
// (see predicate.Weight) than a preview may take, so it is not refused.
const attackedEvents = 50_000

// callerWait is how long a call waits for a database connection, equal to the default of
// `mailhelm serve`.
const callerWait = 2 * time.Second

// BenchmarkNeighbour measures ordinary calls of one organization while another runs 0, 8 or
// 24 of the most expensive segment previews at once. It makes each of the calls in
// dailyWork 3,000 times, one after another. For each call it reports the p50 and p99, and
// by which factor the p99 is higher than without previews.
func BenchmarkNeighbour(b *testing.B) {
	for _, engine := range []string{"sqlite", "postgres"} {
		p := product.Start(b, product.Options{Postgres: engine == "postgres", CallerWait: callerWait})
		recordOpens(b, p)
		agent := p.TokenWith(b, p.Other.Live, p.MCPURL)
		c := client()
		idle := map[string]time.Duration{}
		for _, parallel := range []int{0, 8, 24} {
			b.Run(fmt.Sprintf("%s/attackers=%d", engine, parallel), func(b *testing.B) {
				stop := attack(b, p, parallel)
				defer stop()
				for b.Loop() {
					for name, request := range dailyWork(p, agent) {
						took := timed(b, c, request)
						b.ReportMetric(milliseconds(took[len(took)/2]), name+"-p50-ms")
						p99 := took[len(took)*99/100]
						b.ReportMetric(milliseconds(p99), name+"-p99-ms")
						if parallel == 0 {
							idle[name] = p99
						} else if idle[name] > 0 {
							b.ReportMetric(float64(p99)/float64(idle[name]), name+"-x-idle")
						}
					}
				}
			})
		}
		c.CloseIdleConnections()
	}
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func recordOpens(b *testing.B, p *product.Product) {
	b.Helper()
	now := p.Clock.Now()
	for from := 0; from < attackedEvents; from += 1000 {
		events := make([]messages.Event, 1000)
		for i := range events {
			n := from + i
			at, to := now.Add(-time.Duration(n)*time.Minute), fmt.Sprintf("reader%d@example.com", n%5000)
			events[i] = messages.Event{
				ID: core.NewID(), MessageID: fmt.Sprintf("attacked-%d", n/4), Type: messages.Open, OccurredAt: at, Recipient: to,
				Mail: messages.Mail{From: "shop@example.com", To: []string{to}, SentAt: at, Subject: "What is new this week, and what is not"},
			}
		}
		err := p.DB.InTx(b.Context(), func(ctx context.Context) error {
			_, err := p.DB.Messages().RecordEvents(ctx, p.OrgID, events, now)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
}

// attack starts parallel clients of the demo organization. Each requests an expensive
// segment preview again and again. The returned function stops the clients.
func attack(b *testing.B, p *product.Product, parallel int) (stop func()) {
	b.Helper()
	body := expensivePreview("3650d")
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: parallel}}
	var attackers sync.WaitGroup
	for range parallel {
		attackers.Go(func() {
			for ctx.Err() == nil {
				r, err := http.NewRequestWithContext(ctx, http.MethodPost, p.BaseURL+"/v1/segments/preview", strings.NewReader(body))
				if err != nil {
					return
				}
				r.Header.Set("Authorization", "Bearer "+p.Live.APIKey)
				r.Header.Set("Content-Type", "application/json")
				answer, err := c.Do(r)
				if err != nil {
					continue
				}
				_, _ = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
				// This attacker ignores Retry-After, which asks for a longer wait: after a 503
				// it waits only 100 ms.
				if answer.StatusCode == http.StatusServiceUnavailable {
					select {
					case <-ctx.Done():
					case <-time.After(100 * time.Millisecond):
					}
				}
			}
		})
	}
	return func() {
		cancel()
		attackers.Wait()
		c.CloseIdleConnections()
	}
}

// dailyWork returns functions that make requests of the second organization, such as
// "lookup" and "upsert". agent is the organization's access token for the agent endpoint.
func dailyWork(p *product.Product, agent string) map[string]func() (*http.Request, error) {
	with := func(method, address, authorization, kind, body string) func() (*http.Request, error) {
		return func() (*http.Request, error) {
			r, err := http.NewRequest(method, address, strings.NewReader(body))
			if err == nil {
				r.Header.Set("Authorization", authorization)
				r.Header.Set("Content-Type", kind)
				r.Header.Set("Accept", "application/json, text/event-stream")
				if strings.HasPrefix(address, p.MCPURL) {
					r.Header.Set("MCP-Protocol-Version", "2025-11-25")
				}
			}
			return r, err
		}
	}
	contact := p.BaseURL + "/v1/contacts/" + url.PathEscape(p.Other.Contact)
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(p.Other.Live.ClientID+":"+p.Other.Live.ClientSecret))
	key := "Bearer " + p.Other.Live.APIKey
	return map[string]func() (*http.Request, error){
		"lookup": with(http.MethodGet, contact, key, "application/json", ""),
		"upsert": with(http.MethodPut, contact, key, "application/json", `{"attributes":{}}`),
		"tool": with(http.MethodPost, p.MCPURL+"/mcp", "Bearer "+agent, "application/json",
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"`+p.Other.Contact+`"}}}`),
		"token": with(http.MethodPost, p.AuthURL+"/oauth/token", basic, "application/x-www-form-urlencoded",
			url.Values{"grant_type": {"client_credentials"}, "resource": {p.BaseURL}}.Encode()),
	}
}

const timedCalls = 3000

// timed makes 3,000 calls one after another and returns their durations in ascending order.
func timed(b *testing.B, c *http.Client, request func() (*http.Request, error)) []time.Duration {
	b.Helper()
	took := make([]time.Duration, timedCalls)
	for i := range took {
		began := time.Now()
		if err := call(c, target{"neighbour", request}); err != nil {
			b.Fatal(err)
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took
}

// BenchmarkShedding measures writes from 256 connections at once, each with a timeout of
// ten seconds. It reports completed writes and refused calls (503) per second, and the
// number of calls that ended in another way. It also reports the durations of writes, and
// of token requests made at the same time.
func BenchmarkShedding(b *testing.B) {
	const connections, lasts = 256, 5 * time.Second
	for _, engine := range []string{"sqlite", "postgres"} {
		b.Run(engine, func(b *testing.B) {
			p := product.Start(b, product.Options{Postgres: engine == "postgres", ActivitiesPerMinute: 1 << 30, CallerWait: callerWait})
			token := dailyWork(p, "")["token"]
			c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}, Timeout: 10 * time.Second}
			defer c.CloseIdleConnections()
			for b.Loop() {
				var done, shed, other, n atomic.Int64
				var writers sync.WaitGroup
				var mu sync.Mutex
				var took, tokens []time.Duration
				until := time.Now().Add(lasts)
				for range connections {
					writers.Go(func() {
						for began := time.Now(); began.Before(until); began = time.Now() {
							switch write(c, p, n.Add(1)) {
							case http.StatusOK, http.StatusAccepted:
								done.Add(1)
							case http.StatusServiceUnavailable:
								shed.Add(1)
							default:
								other.Add(1)
							}
							mu.Lock()
							took = append(took, time.Since(began))
							mu.Unlock()
						}
					})
				}
				for time.Now().Before(until) {
					began := time.Now()
					if err := call(c, target{"token", token}); err != nil {
						b.Error(err)
					}
					tokens = append(tokens, time.Since(began))
				}
				writers.Wait()
				slices.Sort(took)
				slices.Sort(tokens)
				b.ReportMetric(float64(done.Load())/lasts.Seconds(), "writes/s")
				b.ReportMetric(float64(shed.Load())/lasts.Seconds(), "shed/s")
				b.ReportMetric(float64(other.Load()), "other")
				b.ReportMetric(milliseconds(took[len(took)*99/100]), "write-p99-ms")
				b.ReportMetric(milliseconds(took[len(took)-1]), "write-max-ms")
				b.ReportMetric(milliseconds(tokens[len(tokens)*99/100]), "token-p99-ms")
			}
		})
	}
}

// write records one activity of a contact that does not exist yet; n makes the address
// unique. It returns the HTTP status, or 0 if no complete answer arrived.
func write(c *http.Client, p *product.Product, n int64) int {
	r, err := http.NewRequest(http.MethodPost, p.BaseURL+"/v1/activities", strings.NewReader(fmt.Sprintf(`[{"name":"order","email":"new%d@example.com"}]`, n)))
	if err != nil {
		return 0
	}
	r.Header.Set("Authorization", "Bearer "+p.Live.APIKey)
	r.Header.Set("Content-Type", "application/json")
	answer, err := c.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return 0
	}
	return answer.StatusCode
}
