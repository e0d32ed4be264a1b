package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// restartPostgres is a shell command that restarts PostgreSQL during the test. If it is "",
// a relay between server and PostgreSQL closes all connections and refuses new ones. To the
// server this looks like a restart.
var restartPostgres = flag.String("restart-postgres", "", "command that restarts PostgreSQL under a living server")

// relay forwards network connections from a server to its database. A test can close them
// all.
type relay struct {
	t        *testing.T
	network  string
	upstream string
	mu       sync.Mutex
	listener net.Listener
	open     map[net.Conn]bool
	down     bool
	running  sync.WaitGroup
}

// relayTo starts a relay to the PostgreSQL database with this URL. It returns the relay,
// and the URL under which a server reaches the database through it.
func relayTo(t *testing.T, address string) (*relay, string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{t: t, network: "tcp", upstream: u.Host, open: map[net.Conn]bool{}}
	q := u.Query()
	if folder := q.Get("host"); folder != "" {
		r.network, r.upstream = "unix", filepath.Join(folder, ".s.PGSQL.5432")
		q.Del("host")
	}
	r.listen("127.0.0.1:0")
	t.Cleanup(func() {
		r.closeConnections()
		r.running.Wait()
	})
	u.Host, u.RawQuery = r.listener.Addr().String(), q.Encode()
	return r, u.String()
}

func (r *relay) listen(address string) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.listener, r.down = listener, false
	r.mu.Unlock()
	r.running.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			r.running.Go(func() { r.serve(c) })
		}
	})
}

func (r *relay) serve(c net.Conn) {
	defer r.end(c)
	up, err := net.Dial(r.network, r.upstream)
	if err != nil {
		return
	}
	defer r.end(up)
	if !r.add(c, up) {
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{c, up}, {up, c}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // ends with the connection
			r.end(way[0])
			r.end(way[1])
		})
	}
	both.Wait()
}

// add records open connections, so that closeConnections can close them. After
// closeConnections it returns false, until the relay listens again. If add returns false,
// the caller must close the connections.
func (r *relay) add(both ...net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range both {
		r.open[c] = !r.down
	}
	return !r.down
}

func (r *relay) end(c net.Conn) {
	_ = c.Close() // already closed is fine
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, c)
}

// closeConnections closes all connections of the relay and stops accepting new ones.
func (r *relay) closeConnections() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = true
	_ = r.listener.Close() // already closed is fine
	for c := range r.open {
		_ = c.Close() // already closed is fine
	}
}

// restartDatabase restarts PostgreSQL with the command of -restart-postgres. Without such a
// command it closes the relay's connections and refuses new ones until the test calls
// acceptAgain.
func (r *relay) restartDatabase() {
	if *restartPostgres == "" {
		r.closeConnections()
		return
	}
	if output, err := exec.Command("sh", "-c", *restartPostgres).CombinedOutput(); err != nil {
		r.t.Errorf("restart: %v %s", err, output)
	}
}

// acceptAgain accepts connections again.
func (r *relay) acceptAgain() {
	if *restartPostgres == "" {
		r.listen(r.listener.Addr().String())
	}
}

// TestKeysOutliveARestartOfTheDatabase checks idempotency keys across a restart of
// PostgreSQL under a running server. The first retry of each interrupted call must succeed,
// and no call may take effect twice.
func TestKeysOutliveARestartOfTheDatabase(t *testing.T) {
	t.Parallel()
	own := newShell(t, true)
	through := own.database
	between, url := relayTo(t, own.database.URL)
	through.URL = url
	org := own.does("org", "create", "acme")["id"].(string)
	secret := own.does("key", "create", "acme", "--name", "CI", "--scopes", "all")["secret"].(string)
	_, port := launchServe(t, nil, shellOn(t, through).where...)
	d := demoOutput{"base_url": fmt.Sprintf("http://localhost:%d", port), "org_id": org, "api_key": secret}
	s, chance := &stream{t: t, status: map[string]int{}}, rand.New(rand.NewPCG(19, uint64(*kills)))
	for range *kills {
		s.run(d, 20+chance.IntN(100), between.restartDatabase)
		between.acceptAgain()
		s.retry(d)
	}
	s.check(own.database, org)
}
