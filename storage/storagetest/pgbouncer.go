package storagetest

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// PgBouncerServer is a temporary PgBouncer on a port of the loopback interface. It ends with the
// test or the test process, even after a crash.
type PgBouncerServer struct {
	address string // host:port
	command []string
	running program
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
		tb.Fatalf("storagetest: %v", err)
	}
	p := &PgBouncerServer{}
	tb.Cleanup(func() {
		p.Stop()
		_ = os.RemoveAll(dir)
	})
	host := cmp.Or(target.Query().Get("host"), target.Hostname())
	for range starts {
		var port string
		if port, err = freePort(tb.Context()); err != nil {
			break
		}
		p.address = net.JoinHostPort("127.0.0.1", port)
		file := filepath.Join(dir, "pgbouncer.ini")
		if err = os.WriteFile(file, []byte(c.file(port, host, target.Port())), 0o644); err != nil {
			break
		}
		p.command = []string{binary, file}
		if u := serverUser(); u != nil {
			p.command = []string{binary, "-u", u.Username, file}
		}
		if err = p.start(); err == nil {
			return p
		}
	}
	tb.Fatalf("storagetest: pgbouncer: %v", err)
	return nil
}

// file returns the content of pgbouncer.ini.
func (c PgBouncerConfig) file(port, host, serverPort string) string {
	if c.Text != nil {
		return c.Text(port, host)
	}
	return fmt.Sprintf(`[databases]
* = host=%s port=%s user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = %d
max_client_conn = 500
%s
`, host, cmp.Or(serverPort, "5432"), port, cmp.Or(c.Mode, "transaction"), cmp.Or(c.Servers, 3), strings.Join(c.Settings, "\n"))
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

// Start starts the server again after Stop, with the same address.
func (p *PgBouncerServer) Start(tb testing.TB) {
	tb.Helper()
	if err := p.start(); err != nil {
		tb.Fatalf("storagetest: pgbouncer: %v", err)
	}
}

// Stop kills the server. Repeated calls have no effect.
func (p *PgBouncerServer) Stop() { p.running.stop() }

func (p *PgBouncerServer) start() error {
	return p.running.start(nil, "process up", p.command...)
}

// findPgBouncer returns the path of the program. Daemons are often not in the PATH of users.
func findPgBouncer() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/pgbouncer")
}
