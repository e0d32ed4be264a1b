package storagetest

import (
	"os"
	"testing"
)

// Server is a PostgreSQL of one test's own, which it may stop and start.
type Server struct{ cluster cluster }

// OwnServer starts a server that ends with the test. Without installed binaries the test
// is skipped, and fails when CI is true.
func OwnServer(tb testing.TB) *Server {
	tb.Helper()
	bin := serverBinaries()
	if bin == "" || !Services() {
		Missing(tb, "POSTGRESQL TESTS SKIPPED: no server binaries found; install PostgreSQL 15 or later")
	}
	// The server's own user has to reach its folder, which that of a test does not let it.
	dir, err := os.MkdirTemp("", "mailhelm-own-postgres-")
	if err == nil {
		err = os.Chmod(dir, 0o711)
	}
	if err != nil {
		tb.Fatalf("storagetest: %v", err)
	}
	s := &Server{cluster{dir: dir, bin: bin}}
	tb.Cleanup(func() {
		s.cluster.stop()
		_ = os.RemoveAll(dir)
	})
	if err := s.cluster.start(); err != nil {
		tb.Fatalf("storagetest: %v", err)
	}
	return s
}

// URL is the address of an empty database of the server.
func (s *Server) URL() string { return s.cluster.url().String() }

// Stop ends the server and all connections to it; its databases stay.
func (s *Server) Stop(tb testing.TB) {
	tb.Helper()
	if err := s.cluster.halt(); err != nil {
		tb.Fatalf("storagetest: stop: %v", err)
	}
}

// Start starts it again.
func (s *Server) Start(tb testing.TB) {
	tb.Helper()
	if err := s.cluster.resume(); err != nil {
		tb.Fatalf("storagetest: start: %v", err)
	}
}
