package enginetest

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest/daemon"
)

// PgBouncerServer is a temporary PgBouncer on a port of the loopback interface. It ends with the
// test or the test process, even after a crash. If it crashes, it is started again, as a supervisor
// does: version 1.18 of Debian 12 may end when a client cancels a statement
// (https://github.com/pgbouncer/pgbouncer/issues/822, corrected in 1.19).
type PgBouncerServer struct {
	address string // host:port
	command []string
	// mu guards running and crashes. running is nil after Stop. crashes has the last lines of each run that
	// crashed.
	mu      sync.Mutex
	running *daemon.Daemon
	crashes []string
	// file is the path of pgbouncer.ini, and content returns its text for a PostgreSQL server.
	file    string
	content func(target *url.URL) string
}

// PgBouncerConfig configures a [PgBouncerServer].
type PgBouncerConfig struct {
	// Mode is the pool mode; "" means transaction.
	Mode string
	// Servers is the largest number of connections to each database; 0 means 3.
	Servers int
	// Settings are further lines of the section pgbouncer.
	Settings []string
	// Text returns the file pgbouncer.ini for a listening port and a PostgreSQL server, whose
	// address is the folder of its Unix socket. nil means a file with the fields above.
	Text func(port, postgres string) string
}

// PgBouncer starts a PgBouncer in front of the PostgreSQL server of the URL direct, and stops it
// when the test ends. It passes on all databases of the server. If pgbouncer is not installed the
// test is skipped, or fails if CI is "true".
func PgBouncer(tb testing.TB, direct string, c PgBouncerConfig) *PgBouncerServer {
	tb.Helper()
	binary, err := findPgBouncer()
	if err != nil || !Services() {
		SkipMissing(tb, "PGBOUNCER TESTS SKIPPED: pgbouncer is not installed")
	}
	target, err := url.Parse(direct)
	if err != nil {
		tb.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "mailhelm-pgbouncer-")
	if err == nil {
		// The server may run as another user, who must read its configuration.
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		tb.Fatalf("enginetest: %v", err)
	}
	p := &PgBouncerServer{}
	tb.Cleanup(func() {
		p.Stop()
		for _, lines := range p.crashes {
			tb.Logf("enginetest: pgbouncer crashed: %s", lines)
		}
		_ = os.RemoveAll(dir)
	})
	p.file = filepath.Join(dir, "pgbouncer.ini")
	for range starts {
		var port string
		if port, err = freePort(tb.Context()); err != nil {
			break
		}
		p.address = net.JoinHostPort("127.0.0.1", port)
		p.content = func(target *url.URL) string { return c.file(port, target) }
		if err = os.WriteFile(p.file, []byte(p.content(target)), 0o644); err != nil {
			break
		}
		p.command = []string{binary, p.file}
		if u := serverUser(); u != nil {
			p.command = []string{binary, "-u", u.Username, p.file}
		}
		if err = p.start(); err == nil {
			return p
		}
	}
	tb.Fatalf("enginetest: pgbouncer: %v", err)
	return nil
}

// file returns the content of pgbouncer.ini. The database of the URL target has an entry of its own,
// because PgBouncer does not apply a change of the entry * to databases that it knows.
func (c PgBouncerConfig) file(port string, target *url.URL) string {
	host := cmp.Or(target.Query().Get("host"), target.Hostname())
	if c.Text != nil {
		return c.Text(port, host)
	}
	server := fmt.Sprintf("host=%s port=%s user=postgres", host, cmp.Or(target.Port(), "5432"))
	return fmt.Sprintf(`[databases]
%s = %s
* = %s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
admin_users = postgres
pool_mode = %s
default_pool_size = %d
max_client_conn = 500
%s
`, strings.TrimPrefix(target.Path, "/"), server, server, port, cmp.Or(c.Mode, "transaction"), cmp.Or(c.Servers, 3), strings.Join(c.Settings, "\n"))
}

// poolerVariable is the environment variable that puts a PgBouncer in transaction mode in front of
// each database of [Postgres] and of package conformance/product, if it is "1".
const poolerVariable = "MAILHELM_TEST_PGBOUNCER"

// PgBouncerForAll reports whether tests that could use PostgreSQL directly use it through PgBouncer.
func PgBouncerForAll() bool { return os.Getenv(poolerVariable) == "1" }

// URL returns the address through PgBouncer of the database with the address direct.
func (p *PgBouncerServer) URL(direct string) string {
	u, err := url.Parse(direct)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: "postgres", User: url.User("postgres"), Host: p.address, Path: u.Path, RawQuery: "sslmode=disable"}).String()
}

// Repoint lets the server pass its database on to another PostgreSQL server: it writes the address
// into the configuration file, and lets PgBouncer read that if it runs. Connections to the former
// PostgreSQL server are closed when their transaction ends.
func (p *PgBouncerServer) Repoint(tb testing.TB, direct string) {
	tb.Helper()
	target, err := url.Parse(direct)
	if err == nil {
		err = os.WriteFile(p.file, []byte(p.content(target)), 0o644)
	}
	if err == nil && p.isRunning() {
		err = p.reload(tb.Context())
	}
	if err != nil {
		tb.Fatalf("enginetest: pgbouncer: %v", err)
	}
}

// reload runs the command RELOAD of PgBouncer's console. It tries again while the server is started
// again after a crash.
func (p *PgBouncerServer) reload(ctx context.Context) error {
	db, err := sql.Open("postgres", p.consoleURL())
	if err != nil {
		return err
	}
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for range reloads {
		if _, err = db.ExecContext(ctx, "RELOAD"); err == nil {
			break
		}
		<-again.C
	}
	return errors.Join(err, db.Close())
}

// consoleURL returns the address of PgBouncer's console.
func (p *PgBouncerServer) consoleURL() string { return p.URL("postgres:///pgbouncer") }

// reloads is the number of attempts to reload the configuration, in three seconds.
const reloads = 30

// Start starts the server again after Stop, with the same address.
func (p *PgBouncerServer) Start(tb testing.TB) {
	tb.Helper()
	if err := p.start(); err != nil {
		tb.Fatalf("enginetest: pgbouncer: %v", err)
	}
}

// Stop kills the server. Repeated calls have no effect.
func (p *PgBouncerServer) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running.Stop()
	p.running = nil
}

func (p *PgBouncerServer) isRunning() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running != nil
}

func (p *PgBouncerServer) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run()
}

// run starts the server. The caller holds the mutex mu.
func (p *PgBouncerServer) run() error {
	started, err := daemon.Start(daemon.Config{Command: p.command, Ready: "process up", Wait: startWait})
	if p.running = started; err == nil {
		go p.reviveAfter(started)
	}
	return err
}

// mostCrashes is the number of crashes after which the server is not started again.
const mostCrashes = 20

// reviveAfter waits until a run of the server ends, and starts the server again if that was a crash.
func (p *PgBouncerServer) reviveAfter(d *daemon.Daemon) {
	<-d.Silent()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != d {
		return // stopped
	}
	d.Stop()
	p.running = nil
	if p.crashes = append(p.crashes, d.Output()); len(p.crashes) >= mostCrashes {
		return
	}
	if err := p.run(); err != nil {
		p.crashes = append(p.crashes, err.Error())
	}
}

// findPgBouncer returns the path of the program. Daemons are often not in the PATH of users.
func findPgBouncer() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/pgbouncer")
}
