package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
)

const (
	// latencyPolls is the number of polls that wait while messages come.
	latencyPolls = 1000
	// latencySenders is the number of messages that are under way at most.
	latencySenders = 2
	// latencyMessages is the number of messages whose way is measured.
	latencyMessages = 1000
	// latencyPause is the pause of a sender between two messages.
	latencyPause = 20 * time.Millisecond
	// pollWait is the longest wait of a poll, in seconds.
	pollWait = "25"
)

// BenchmarkPollLatency measures the time from the reply 250 to a message until a waiting poll of
// its inbox has its answer, while 1,000 polls wait, each in another inbox. Server and client are
// two processes.
func BenchmarkPollLatency(b *testing.B) {
	binary, p := program.Build(b), newMailLoad(b)
	for _, database := range []string{"sqlite", "postgres"} {
		b.Run(database, func(b *testing.B) {
			r := startReceiver(b, binary, database, p.dns, latencyPolls)
			arrivals, stop := r.watch(b)
			defer stop()
			r.awaitPolls(b, latencyPolls)
			b.ResetTimer()
			for range b.N {
				took := p.measure(b, r, arrivals)
				b.ReportMetric(milliseconds(took[len(took)/2]), "p50-ms")
				b.ReportMetric(milliseconds(took[len(took)*99/100]), "p99-ms")
				b.ReportMetric(milliseconds(took[len(took)-1]), "max-ms")
			}
		})
	}
}

// measure sends messages to the inboxes in turn. It returns the times from 250 to the answers, in
// ascending order.
func (p *mailLoad) measure(b *testing.B, r *receiver, arrivals []chan time.Time) []time.Duration {
	b.Helper()
	var next atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var senders sync.WaitGroup
	failures := make(chan error, latencySenders)
	for range latencySenders {
		senders.Go(func() {
			conn, err := greet(r.smtp)
			for err == nil {
				n := int(next.Add(1)) - 1
				if n >= latencyMessages {
					break
				}
				var one time.Duration
				if one, err = p.one(conn, r.boxes[n%len(r.boxes)].LocalPart+"@"+inboxDomain, n, arrivals[n%len(arrivals)]); err == nil {
					mu.Lock()
					took = append(took, one)
					mu.Unlock()
				}
				time.Sleep(latencyPause) //nolint:forbidigo // the pace of the messages
			}
			if conn != nil {
				_ = conn.Close()
			}
			failures <- err
		})
	}
	senders.Wait()
	for range latencySenders {
		must(b, <-failures)
	}
	slices.Sort(took)
	return took
}

// one sends message n and waits until the poll of its inbox has its answer. It returns the time
// between the two, 0 if the answer came before the reply was read.
func (p *mailLoad) one(conn *textproto.Conn, to string, n int, arrived <-chan time.Time) (time.Duration, error) {
	if err := sendMessage(conn, to, p.messages[n%len(p.messages)]); err != nil {
		return 0, err
	}
	replied := time.Now()
	select {
	case at := <-arrived:
		return max(0, at.Sub(replied)), nil
	case <-time.After(receiverWait):
		return 0, fmt.Errorf("no poll of %s has an answer", to)
	}
}

// watch lets a poll wait in each inbox, all the time. The channel of an inbox gets the time of
// each answer with a message. The returned function ends the polls.
func (r *receiver) watch(b *testing.B) (arrivals []chan time.Time, stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(b.Context()))
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: len(r.boxes)}}
	var watching sync.WaitGroup
	for _, box := range r.boxes {
		arrived := make(chan time.Time, latencyMessages)
		arrivals = append(arrivals, arrived)
		watching.Go(func() {
			cursor := "0"
			for ctx.Err() == nil {
				messages, next, err := r.poll(ctx, client, box.ID, cursor)
				if err != nil && ctx.Err() == nil {
					b.Error(err)
					return
				}
				if cursor = next; messages > 0 {
					arrived <- time.Now()
				}
			}
		})
	}
	return arrivals, func() {
		cancel()
		watching.Wait()
		client.CloseIdleConnections()
	}
}

// poll waits for messages of an inbox after a cursor. It returns their number and the next cursor.
func (r *receiver) poll(ctx context.Context, c *http.Client, id, cursor string) (messages int, next string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.api+"/v1/inboxes/"+id+"/messages?wait="+pollWait+"&after="+cursor, http.NoBody)
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+r.key)
	res, err := c.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, "", err
	}
	var answer struct {
		Messages []json.RawMessage `json:"messages"`
		Cursor   string            `json:"cursor"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || res.StatusCode != http.StatusOK {
		return 0, "", fmt.Errorf("poll: %s: %.200s", res.Status, body)
	}
	return len(answer.Messages), answer.Cursor, nil
}

// awaitPolls waits until n polls wait at the server.
func (r *receiver) awaitPolls(b *testing.B, n int) {
	b.Helper()
	most := 0.0
	defer func() {
		if b.Failed() {
			b.Logf("at most %.0f polls waited", most)
		}
	}()
	awaitTrue(b, receiverWait, strconv.Itoa(n)+" polls wait", func() bool {
		waiting := r.metric(b, "mailhelm_inbox_polls")
		most = max(most, waiting)
		return waiting == float64(n)
	})
}

// metric returns the value of a metric of the server without labels.
func (r *receiver) metric(b *testing.B, name string) float64 {
	b.Helper()
	res, err := r.http.Get(r.admin + "/metrics")
	must(b, err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if text, found := strings.CutPrefix(lines.Text(), name+" "); found {
			value, err := strconv.ParseFloat(text, 64)
			must(b, err)
			return value
		}
	}
	b.Fatalf("there is no metric %s", name)
	return 0
}

const (
	// waitingPolls is the number of polls whose memory is measured, stillPolls that of those that
	// wait while transactions are counted.
	waitingPolls, stillPolls = 10_000, 1000
	// pollsOfInbox is how many of them wait in one inbox.
	pollsOfInbox = 10
	// statisticsAfter is the time after which PostgreSQL has written the statistics of its idle
	// connections.
	statisticsAfter = 11 * time.Second
	// startOver is the time after which a server no longer returns memory of its start.
	startOver = 35 * time.Second
	// stillFor is how long the transactions of the database are counted.
	stillFor = 5 * time.Second
)

// BenchmarkWaitingPolls lets 10,000 polls wait at the same time, each on a connection of its own,
// by REST and by pull links, on both databases. It reports the memory of the server's process for
// them, its heap with garbage, its stacks, and the heap at which the next collection begins. On
// PostgreSQL it first lets 1,000 wait, and reports how many transactions a second the database has
// then, and how many without polls. The client is another process. Both need 10,100 open files.
func BenchmarkWaitingPolls(b *testing.B) {
	binary, p := program.Build(b), newMailLoad(b)
	for _, database := range []string{"sqlite", "postgres"} {
		for _, surface := range []string{"rest", "pull"} {
			b.Run(database+"/"+surface, func(b *testing.B) {
				for range b.N {
					r := startReceiver(b, binary, database, p.dns, waitingPolls/pollsOfInbox)
					time.Sleep(startOver) //nolint:forbidigo // the server returns memory of its start until then
					if database == "postgres" {
						r.countTransactions(b, surface)
					}
					r.measurePolls(b, surface)
				}
			})
		}
	}
}

// measurePolls reports the memory of waiting polls.
func (r *receiver) measurePolls(b *testing.B, surface string) {
	b.Helper()
	before := resident(b, r.pid)
	connections := r.wait(b, surface, waitingPolls)
	defer closeAll(connections)
	after := resident(b, r.pid)
	b.ReportMetric(after-before, "MB")
	b.ReportMetric(after, "MB-in-all")
	for unit, name := range map[string]string{"heap-MB": "go_memstats_heap_alloc_bytes", "stack-MB": "go_memstats_stack_inuse_bytes", "next-collection-MB": "go_memstats_next_gc_bytes"} {
		b.ReportMetric(r.metric(b, name)/(1<<20), unit)
	}
}

// countTransactions reports the transactions of the database while polls wait, and without.
func (r *receiver) countTransactions(b *testing.B, surface string) {
	b.Helper()
	b.ReportMetric(r.transactions(b), "idle-transactions/s")
	connections := r.wait(b, surface, stillPolls)
	b.ReportMetric(r.transactions(b), "transactions/s")
	closeAll(connections)
	awaitTrue(b, receiverWait, "no poll waits", func() bool { return r.metric(b, "mailhelm_inbox_polls") == 0 })
}

func closeAll(connections []net.Conn) {
	for _, c := range connections {
		_ = c.Close() // its answer is not read
	}
}

// transactions returns the committed transactions of the database in a second.
func (r *receiver) transactions(b *testing.B) float64 {
	b.Helper()
	db := openDatabase(b, r.db.URL)
	defer func() { _ = db.Close() }()
	count := func() (n float64) {
		must(b, db.QueryRowContext(b.Context(), "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()").Scan(&n))
		return n
	}
	time.Sleep(statisticsAfter) //nolint:forbidigo // what is before must not be counted
	first, began := count(), time.Now()
	time.Sleep(stillFor) //nolint:forbidigo // the time that is measured
	return (count() - first) / time.Since(began).Seconds()
}

// wait opens n polls, so many at a time that none is refused because the server is busy. It
// returns their connections.
func (r *receiver) wait(b *testing.B, surface string, n int) []net.Conn {
	b.Helper()
	const atOnce = 200
	began := time.Now()
	connections := make([]net.Conn, n)
	for i := range connections {
		var err error
		connections[i], err = r.open(surface, i)
		must(b, err)
		if (i+1)%atOnce == 0 {
			r.awaitPolls(b, i+1)
		}
	}
	b.Logf("%d polls wait after %v", n, time.Since(began).Round(time.Millisecond))
	return connections
}

// open begins poll i and returns its connection.
func (r *receiver) open(surface string, i int) (net.Conn, error) {
	var request bytes.Buffer
	host, at := r.api, i/pollsOfInbox
	if surface == "rest" {
		fmt.Fprintf(&request, "GET /v1/inboxes/%s/messages?wait=%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n", r.boxes[at].ID, pollWait, r.key)
	} else {
		host = r.fetch
		// Each address may make a number of requests, so the polls come from different ones.
		fmt.Fprintf(&request, "GET /p/%s/messages?wait=%s HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 10.1.%d.%d\r\n", r.links[at], pollWait, i>>8, i&255)
	}
	request.WriteString("\r\n")
	conn, err := net.Dial("tcp", strings.TrimPrefix(host, "http://"))
	if err != nil {
		return nil, err
	}
	_, err = conn.Write(request.Bytes())
	return conn, err
}
