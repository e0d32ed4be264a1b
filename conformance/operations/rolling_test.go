package operations

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/config/configtest"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"golang.org/x/time/rate"
)

// documentedDelay is the drain delay of the documentation.
const documentedDelay = 10 * time.Second

// extent is how much the rolling test does.
type extent struct {
	requests int
	delay    time.Duration
	// changes are the durations in the configurations of the proxies that fit a shorter delay, and
	// pause is the one after a start for proxies with health checks.
	changes map[string][]string
	pause   time.Duration
	// pace limits the requests in a second, so that CI has time for other tests.
	pace rate.Limit
}

// extentOf returns the extent of this run.
func extentOf() extent {
	if enginetest.Full() {
		return extent{requests: 100_000, delay: documentedDelay, pace: rate.Inf, pause: documentedPause}
	}
	return extent{
		requests: 1_000, delay: 1500 * time.Millisecond, pace: 400, pause: 500 * time.Millisecond,
		changes: map[string][]string{
			"nginx.conf":   {"fail_timeout=5s", "fail_timeout=1s", "keepalive_timeout 5s", "keepalive_timeout 500ms"},
			"Caddyfile":    {"health_interval 2s", "health_interval 200ms", "keepalive 5s", "keepalive 500ms"},
			"traefik.yaml": {"interval: 2s", "interval: 200ms", "timeout: 1s", "timeout: 150ms", "idleConnTimeout: 5s", "idleConnTimeout: 500ms"},
		},
	}
}

// TestRollingUpdateFailsNoRequest rolls two servers behind nginx, one after the other, while
// clients read and write contacts, call tools, upload and poll an inbox. Every request must
// succeed, and every contact must exist once. The other proxies lead to the same servers, and some
// of the clients go through them. In full, all clients go through one proxy at a time.
func TestRollingUpdateFailsNoRequest(t *testing.T) {
	t.Parallel()
	if !enginetest.Full() {
		roll(t, extentOf(), starts())
		return
	}
	for name, start := range starts() {
		size := extentOf()
		if name == "nginx" {
			size.pause = 0
		}
		t.Run(name, func(t *testing.T) { roll(t, size, map[string]func(*testing.T, behind) *proxy{name: start}) })
	}
}

// documentedPause is how long the documentation says to wait after a server is ready, before the
// next one is stopped. A proxy with health checks does not know before its next check that the
// server is ready. nginx asks each server again by a request.
const documentedPause = 5 * time.Second

// roll rolls two servers behind proxies until the requests are made. It waits for a pause after
// each start.
func roll(t *testing.T, size extent, starts map[string]func(*testing.T, behind) *proxy) {
	t.Helper()
	c := newCluster(t, size, starts)
	for name, p := range c.proxies {
		c.checkServices(t, name, p)
	}
	l := &load{t: t, cluster: c, limit: rate.NewLimiter(size.pace, 8), least: int64(size.requests)}
	l.start()
	rolls := 0
	for began := time.Now(); rolls == 0 || l.done.Load() < l.least; rolls++ {
		if time.Since(began) > 30*time.Minute {
			t.Fatal("the requests are not made in time")
		}
		for _, s := range c.servers {
			must(t, s.stop(t))
			s.start(t, c.binary)
			time.Sleep(size.pause) //nolint:forbidigo // the pause of a person who follows the guide
		}
	}
	l.stop()
	t.Logf("%d requests, %d failed, %d rolls of both servers in %s", l.done.Load(), l.failed.Load(), rolls, time.Since(l.began).Round(time.Second))
	if l.failed.Load() > 0 {
		for _, s := range c.servers {
			t.Logf("the server said:\n%s", s.logged())
		}
	}
	c.checkContacts(t, l)
}

// cluster is two servers on one PostgreSQL behind proxies, with an organization.
type cluster struct {
	binary  string
	servers [2]*server
	proxies map[string]*proxy
	key     string // an API key
	client  access.Client
	secret  string // of the client
}

// newCluster creates the organization and starts the servers and the proxies. The servers have
// loopback addresses of their own, because a proxy asks for their health at the same port.
func newCluster(t *testing.T, size extent, starts map[string]func(*testing.T, behind) *proxy) *cluster {
	t.Helper()
	c := &cluster{binary: link(t), proxies: map[string]*proxy{}}
	dir, database := enginetest.Folder(t), enginetest.PostgresURL(t)
	c.fill(t, config.Config{DataDir: dir, DatabaseURL: database, Listen: configtest.AnyPorts(), MaxConns: 8, DNSServers: []string{"none"}})
	b := behind{changes: size.changes, admin: freePort(t)}
	for i := range c.servers {
		host := fmt.Sprintf("127.0.0.%d", i+1)
		b.servers[i] = net.JoinHostPort(host, freePort(t))
		c.servers[i] = &server{args: []string{
			"--data", dir, "--database-url", database, "--drain-delay", size.delay.String(), "--trusted-proxies", "127.0.0.1/32",
			"--api-addr", b.servers[i], "--app-addr", b.servers[i], "--mcp-addr", b.servers[i], "--fetch-addr", b.servers[i],
			"--smtp-addr", freeAddress(t), "--admin-addr", net.JoinHostPort(host, b.admin), "--dns-servers", "none", "--log-level", "info",
			"--base-url", "https://api.example.com", "--auth-url", "https://auth.example.com", "--app-url", "https://app.example.com",
			"--mcp-url", "https://mcp.example.com", "--fetch-url", "https://fetch.example.com",
			"--asset-url", "https://images.example.net",
		}}
		c.servers[i].start(t, c.binary)
		t.Cleanup(func() { _ = c.servers[i].cmd.Process.Kill() })
	}
	for name, start := range starts {
		c.proxies[name] = start(t, b)
	}
	return c
}

// fill creates the organization, its account and its credentials.
func (c *cluster) fill(t *testing.T, cfg config.Config) {
	t.Helper()
	h, err := serve.Start(t.Context(), cfg)
	must(t, err)
	db := h.DB()
	p := provision.Provisioner{Stores: db.Access(), Orgs: db.Orgs(), Users: db.Users(), Members: db.Members(), Tx: db, Clock: h.Clock()}
	org, err := p.CreateOrg(t.Context(), core.Org{Name: "Acme", Slug: "acme", Tier: "team"})
	must(t, err)
	grant := provision.Grant{OrgID: org.ID, Name: "Load", Environment: core.Live, Scopes: core.AllScopes()}
	_, c.key, err = p.CreateAPIKey(t.Context(), grant)
	must(t, err)
	c.client, c.secret, err = p.CreateClient(t.Context(), grant)
	must(t, err)
	connecting := sending.Connecting{
		Connections: h.Connections(), Transactor: db, Clock: h.Clock(), Record: func(context.Context, string, string, map[string]any) error { return nil },
	}
	_, err = connecting.Connect(t.Context(), sending.NewConnection{OrgID: org.ID, Provider: sending.Simulated})
	must(t, err)
	must(t, h.Account().Seed(t.Context(), org.ID, simulator.Setup{
		Account: &sending.Overview{SendingEnabled: true, Max24HourSend: -1}, List: &sending.ContactList{Name: "acme"},
		Contacts: []sending.Contact{{Email: reader}},
	}))
	_, err = h.Sync().Run(t.Context(), org.ID)
	must(t, err)
	ending, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	must(t, h.Stop(ending))
}

// any returns the proxy that most clients use: nginx, or the only one.
func (c *cluster) any() *proxy {
	if p := c.proxies["nginx"]; p != nil {
		return p
	}
	for _, p := range c.proxies {
		return p
	}
	return nil
}

// checkServices checks that each service answers under its name, and that the servers see the address of the client, not the one that it forges and not that of the proxy.
func (c *cluster) checkServices(t *testing.T, name string, p *proxy) {
	t.Helper()
	const caller = "127.0.0.5"
	client := p.client()
	defer client.CloseIdleConnections()
	client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(caller)}}).DialContext(ctx, network, p.address)
	}
	paths := []string{
		config.HealthPath(config.APIService), config.HealthPath(config.AppService), "/docs/", config.HealthPath(config.MCPService),
		config.HealthPath(config.FetchService), config.HealthPath(config.AssetService),
	}
	for i, path := range paths {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+names[i]+path, nil)
		must(t, err)
		r.Header.Set("X-Forwarded-For", "192.0.2.1")
		answer, err := client.Do(r)
		must(t, err)
		text, err := drain(answer)
		must(t, err)
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s answers %d %.300s", name, r.URL, answer.StatusCode, text)
		}
		if seen := answer.Header.Get(config.ClientHeader); i == 0 && !strings.HasPrefix(seen, caller+":") {
			t.Errorf("%s: the server sees the client at %s", name, seen)
		}
	}
}

// reader is the contact that clients read.
const reader = "reader@example.org"

// checkContacts checks that each acknowledged contact exists.
func (c *cluster) checkContacts(t *testing.T, l *load) {
	t.Helper()
	client := c.any().client()
	defer client.CloseIdleConnections()
	missing := 0
	// Reading a thousand of them is enough: a lost commit would have failed other requests too.
	for _, email := range l.created[:min(len(l.created), 1000)] {
		if _, status, err := c.call(t.Context(), client, request{http.MethodGet, "https://api.example.com/v1/contacts/" + email, "", "", 0}); err != nil || status != http.StatusOK {
			missing++
		}
	}
	if missing > 0 || len(l.created) == 0 {
		t.Errorf("%d acknowledged contacts, %d of them missing", len(l.created), missing)
	}
}

// request is a request of a client; bearer is "" for the API key.
type request struct {
	method, address, body, bearer string
	// padding is the number of spaces after the body, for uploads.
	padding int
}

// call makes a request and returns the body and the status of the answer.
func (c *cluster) call(ctx context.Context, client *http.Client, q request) (string, int, error) {
	body := append([]byte(q.body), bytes.Repeat([]byte(" "), q.padding)...)
	r, err := http.NewRequestWithContext(ctx, q.method, q.address, bytes.NewReader(body))
	if err != nil {
		return "", 0, err
	}
	// A transport repeats a request on a new connection only if it can read the body again. A
	// failed request must be counted.
	r.GetBody = nil
	r.Header.Set("Authorization", "Bearer "+c.key)
	if q.bearer != "" {
		r.Header.Set("Authorization", "Bearer "+q.bearer)
	}
	if strings.HasPrefix(q.address, "https://fetch.") || strings.HasPrefix(q.address, "https://app.") {
		r.Header.Del("Authorization")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := client.Do(r)
	if err != nil {
		return "", 0, err
	}
	text, err := drain(answer)
	return text, answer.StatusCode, err
}

// token returns an access token for the agent endpoint.
func (c *cluster) token(t *testing.T, client *http.Client) string {
	t.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "resource": {"https://mcp.example.com"}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://auth.example.com/oauth/token", strings.NewReader(form.Encode()))
	must(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(c.client.ClientID, c.secret)
	answer, err := client.Do(r)
	must(t, err)
	text, err := drain(answer)
	must(t, err)
	var issued struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &issued); err != nil || issued.AccessToken == "" {
		t.Fatalf("token: %d %s", answer.StatusCode, text)
	}
	return issued.AccessToken
}

// load is clients that make requests until they are stopped.
type load struct {
	t            *testing.T
	cluster      *cluster
	limit        *rate.Limiter
	least        int64
	began        time.Time
	done, failed atomic.Int64
	running      sync.WaitGroup
	ending       chan struct{}

	mu      sync.Mutex
	created []string
	causes  []string
}

// clients is the number of clients that make short requests. Each has connections of its own.
const clients = 8

// start starts the clients, one that uploads and one that polls an inbox.
func (l *load) start() {
	l.began, l.ending = time.Now(), make(chan struct{})
	main := l.cluster.any()
	client := main.client()
	token := l.cluster.token(l.t, client)
	poll := l.inbox(client)
	for i := range clients {
		l.repeat(main, l.limit, func(n int) (request, []int) { return short(fmt.Sprint(i), n, token) })
	}
	l.repeat(main, rate.NewLimiter(2, 1), func(n int) (request, []int) {
		return request{http.MethodPost, "https://api.example.com/v1/contacts/bulk", fmt.Sprintf(`{"contacts": [{"email": "bulk%d@example.org"}]}`, n), "", 3 << 20}, []int{http.StatusAccepted}
	})
	for name, p := range l.cluster.proxies {
		l.repeat(p, l.limit, func(int) (request, []int) {
			return request{http.MethodGet, poll + "?wait=1", "", "", 0}, []int{http.StatusOK}
		})
		if p != main {
			l.repeat(p, rate.NewLimiter(40, 1), func(n int) (request, []int) { return short(name, n, token) })
		}
	}
}

// short returns the nth request of a client, and the statuses of success.
func short(client string, n int, token string) (request, []int) {
	switch n % 8 {
	case 0, 1:
		return request{http.MethodPost, "https://api.example.com/v1/contacts", fmt.Sprintf(`{"email": "c%sn%d@example.org"}`, client, n), "", 0}, []int{http.StatusCreated}
	case 2, 3:
		call := `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "contacts_lookup", "arguments": {"email": "` + reader + `"}}}`
		return request{http.MethodPost, "https://mcp.example.com/mcp", call, token, 0}, []int{http.StatusOK}
	case 4:
		return request{http.MethodGet, "https://app.example.com/docs/", "", "", 0}, []int{http.StatusOK}
	default:
		return request{http.MethodGet, "https://api.example.com/v1/contacts/" + reader, "", "", 0}, []int{http.StatusOK}
	}
}

// inbox creates a temporary inbox and returns the address for polls.
func (l *load) inbox(client *http.Client) string {
	text, status, err := l.cluster.call(l.t.Context(), client, request{http.MethodPost, "https://api.example.com/v1/inboxes", "{}", "", 0})
	must(l.t, err)
	var made struct {
		PullURL string `json:"pull_url"`
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil || made.PullURL == "" {
		l.t.Fatalf("inbox: %d %s", status, text)
	}
	return made.PullURL
}

// repeat makes the requests that next returns, one after the other on own connections and as
// often as limit allows, and counts them.
func (l *load) repeat(p *proxy, limit *rate.Limiter, next func(n int) (request, []int)) {
	l.running.Go(func() {
		client := p.client()
		defer client.CloseIdleConnections()
		for n := 0; ; n++ {
			select {
			case <-l.ending:
				return
			default:
			}
			if err := limit.Wait(l.t.Context()); err != nil {
				return
			}
			q, good := next(n)
			text, status, err := l.cluster.call(l.t.Context(), client, q)
			if err == nil && !slices.Contains(good, status) {
				err = fmt.Errorf("status %d: %.300s", status, text)
			}
			l.count(q, status, err)
		}
	})
}

func (l *load) count(q request, status int, err error) {
	l.done.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failed.Add(1)
		l.causes = append(l.causes, fmt.Sprintf("%s %s: %v", q.method, q.address, err))
		return
	}
	if status == http.StatusCreated {
		var made struct{ Email string }
		if json.Unmarshal([]byte(q.body), &made) == nil {
			l.created = append(l.created, made.Email)
		}
	}
}

// stop stops the clients and fails the test for each failed request, of which it shows ten.
func (l *load) stop() {
	close(l.ending)
	l.running.Wait()
	for _, cause := range l.causes[:min(len(l.causes), 10)] {
		l.t.Error(cause)
	}
	if n := len(l.causes); n > 10 {
		l.t.Error(errors.New("and others"), n-10)
	}
}
