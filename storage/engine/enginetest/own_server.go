package enginetest

import (
	"os"
	"strings"
	"testing"
)

// Server is a PostgreSQL server that only one test uses. The test may stop and restart it.
type Server struct{ cluster cluster }

// OwnServer starts a PostgreSQL server that is stopped and removed when the test ends. If
// PostgreSQL is not installed the test is skipped, or fails if CI is "true".
func OwnServer(tb testing.TB) *Server {
	tb.Helper()
	return ownServer(tb, cluster{})
}

// DurableServer is like OwnServer, but with PostgreSQL's default settings: each commit waits
// for the disk. Benchmarks use it that promise durable data.
func DurableServer(tb testing.TB) *Server {
	tb.Helper()
	return ownServer(tb, cluster{durable: true})
}

// WithStandby starts a PostgreSQL server and a streaming standby of it, and stops both when the test
// ends. A standby has all databases of its primary.
func WithStandby(tb testing.TB) (primary, standby *Server) {
	tb.Helper()
	primary = ownServer(tb, cluster{replicated: true})
	standby = newServer(tb, cluster{replicated: true})
	if err := standby.cluster.follow(primary.cluster); err != nil {
		tb.Fatalf("enginetest: standby: %v", err)
	}
	return primary, standby
}

func ownServer(tb testing.TB, c cluster) *Server {
	tb.Helper()
	s := newServer(tb, c)
	if err := s.cluster.start(); err != nil {
		tb.Fatalf("enginetest: %v", err)
	}
	return s
}

// newServer returns a server that does not run yet. It is removed when the test ends.
func newServer(tb testing.TB, c cluster) *Server {
	tb.Helper()
	bin := serverBinaries()
	if bin == "" || !Services() {
		SkipMissing(tb, "POSTGRESQL TESTS SKIPPED: no server binaries found; install PostgreSQL 15 or later")
	}
	// If the tests run as root the server runs as another user, who has no access to
	// tb.TempDir().
	dir, err := os.MkdirTemp("", "mailhelm-own-postgres-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		tb.Fatalf("enginetest: %v", err)
	}
	c.dir, c.bin = dir, bin
	s := &Server{c}
	tb.Cleanup(func() {
		s.cluster.stop()
		_ = os.RemoveAll(dir)
	})
	return s
}

// URL returns the address of an empty database on the server.
func (s *Server) URL() string { return s.cluster.url().String() }

// Stop stops the server, which closes all its connections. The databases are kept.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if err := s.cluster.halt(); err != nil {
		tb.Fatalf("enginetest: stop: %v", err)
	}
}

// Start starts the server again after Stop.
func (s *Server) Start(tb testing.TB) {
	tb.Helper()
	if err := s.cluster.resume(); err != nil {
		tb.Fatalf("enginetest: start: %v", err)
	}
}

// Kill ends the server as a crash does: without a checkpoint, and without telling its clients. Start
// recovers what it had committed.
func (s *Server) Kill(tb testing.TB) {
	tb.Helper()
	if err := s.cluster.crash(); err != nil {
		tb.Fatalf("enginetest: kill: %v", err)
	}
}

// Promote ends the recovery of a standby, which then accepts writes. It returns when it does.
func (s *Server) Promote(tb testing.TB) {
	tb.Helper()
	if err := s.cluster.promote(); err != nil {
		tb.Fatalf("enginetest: promote: %v", err)
	}
}

// Follow replaces the data of the server by a copy of that of the primary, and starts it as a
// standby, with the same address as before. Both servers must be from [WithStandby].
func (s *Server) Follow(tb testing.TB, primary *Server) {
	tb.Helper()
	s.cluster.stop()
	if err := s.cluster.follow(primary.cluster); err != nil {
		tb.Fatalf("enginetest: follow: %v", err)
	}
}

// AnyURL returns an address of the database of two servers that leads to the one with the given
// role, "primary" or "standby". The driver tries both for each connection.
func AnyURL(role string, servers ...*Server) string {
	u := servers[0].cluster.url()
	hosts := make([]string, len(servers))
	for i, s := range servers {
		hosts[i] = s.cluster.path("run")
	}
	q := u.Query()
	q.Set("host", strings.Join(hosts, ","))
	q.Set("target_session_attrs", role)
	u.RawQuery = q.Encode()
	return u.String()
}
