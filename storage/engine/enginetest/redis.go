package enginetest

import (
	"net"
	"os/exec"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest/daemon"
)

// RedisServer is a temporary Redis server on a port of the loopback interface. It writes
// nothing to disk. It ends with the test or the test process, even after a crash.
type RedisServer struct {
	// URL is the server's address, with the password. Stop and Start do not change it.
	URL  string
	dir  string // the server's working folder
	args []string

	running *daemon.Daemon
}

// redisPassword is the password of every test server. Tests check that responses and logs
// do not contain it.
const redisPassword = "redis-password-of-the-tests"

// Redis starts a Redis server that ends with the test. If redis-server is not installed the
// test is skipped, or fails if CI is "true".
func Redis(tb testing.TB) *RedisServer {
	tb.Helper()
	return redis(tb, "redis", func(port string) []string { return []string{"--port", port} })
}

// RedisTLS starts a Redis server that accepts only TLS connections, and stops it when the
// test ends. certificate and key are the paths of PEM files.
func RedisTLS(tb testing.TB, certificate, key string) *RedisServer {
	tb.Helper()
	return redis(tb, "rediss", func(port string) []string {
		return []string{
			"--port", "0", "--tls-port", port, "--tls-auth-clients", "no",
			"--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate,
		}
	})
}

func redis(tb testing.TB, scheme string, listen func(port string) []string) *RedisServer {
	tb.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil || !Services() {
		SkipMissing(tb, "REDIS TESTS SKIPPED: redis-server is not installed")
	}
	r := &RedisServer{dir: tb.TempDir()}
	var err error
	for range starts {
		var port string
		if port, err = freePort(tb.Context()); err != nil {
			break
		}
		r.URL = scheme + "://:" + redisPassword + "@" + net.JoinHostPort("127.0.0.1", port) + "/0"
		r.args = append(listen(port), "--bind", "127.0.0.1", "--requirepass", redisPassword,
			"--save", "", "--appendonly", "no", "--dir", r.dir)
		if err = r.start(); err == nil {
			break
		}
	}
	if err != nil {
		tb.Fatalf("enginetest: redis: %v", err)
	}
	tb.Cleanup(r.Stop)
	return r
}

// Start starts the server again after Stop. The server has the same address, and no data.
func (r *RedisServer) Start(tb testing.TB) {
	tb.Helper()
	if err := r.start(); err != nil {
		tb.Fatalf("enginetest: redis: %v", err)
	}
}

// Stop kills the server. Repeated calls have no effect.
func (r *RedisServer) Stop() { r.running.Stop() }

func (r *RedisServer) start() error {
	var err error
	r.running, err = daemon.Start(daemon.Config{Command: append([]string{"redis-server"}, r.args...), Ready: "Ready to accept connections", Wait: startWait})
	return err
}
