package enginetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest/daemon"
)

// S3Server is a temporary S3 server on a port of the loopback interface, with one bucket. It
// is versitygw, a server of another project, which keeps objects as files in a folder of the
// test. It ends with the test or the test process, even after a crash.
type S3Server struct {
	// URL is the server's address. Stop and Start do not change it.
	URL string
	// Dir is the folder of the bucket.
	Dir string

	args    []string
	running *daemon.Daemon
}

// The bucket of an [S3Server], its region, and the access key of its owner.
const (
	S3Bucket      = "received-mail"
	S3Region      = "eu-central-1"
	S3AccessKeyID = "tests-access-key"
	S3Secret      = "s3-secret-of-the-tests"
)

// s3Module is the folder of the server's program, beside this file. It is a module of its own, so
// that the product does not depend on the server. Its go.mod has the versions of this module for
// what both import, so that CI compiles it once, and its go.sum the checksums.
const s3Module = "testdata/s3server"

// s3BuildTime limits the first build, which takes about a minute on two processors.
const s3BuildTime = 10 * time.Minute

// S3 starts an S3 server that ends with the test. The first test of a machine builds the
// server from source into the user's cache folder. If that fails, the test is skipped, or
// fails if CI is "true".
func S3(tb testing.TB) *S3Server {
	tb.Helper()
	return s3Server(tb, "http")
}

// S3Versioned starts a server like [S3], which can keep versions of objects. A test turns that on
// for the bucket.
func S3Versioned(tb testing.TB) *S3Server {
	tb.Helper()
	return s3Server(tb, "http", "--versioning-dir", tb.TempDir())
}

// S3TLS starts an S3 server that accepts only TLS connections. certificate and key are the
// paths of PEM files.
func S3TLS(tb testing.TB, certificate, key string) *S3Server {
	tb.Helper()
	return s3Server(tb, "https", "--cert", certificate, "--key", key)
}

func s3Server(tb testing.TB, scheme string, flags ...string) *S3Server {
	tb.Helper()
	if !Services() {
		SkipMissing(tb, "S3 TESTS SKIPPED: this run is without services")
	}
	binary, err := s3Binary()
	if err != nil {
		SkipMissing(tb, fmt.Sprintf("S3 TESTS SKIPPED: the server cannot be built: %v", err))
	}
	// The server takes each folder of its root as a bucket. It keeps metadata beside them,
	// because some file systems have no extended attributes.
	root, metadata := tb.TempDir(), tb.TempDir()
	s := &S3Server{Dir: filepath.Join(root, S3Bucket)}
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		tb.Fatal(err)
	}
	for range starts {
		var port string
		if port, err = freePort(tb.Context()); err != nil {
			break
		}
		address := net.JoinHostPort("127.0.0.1", port)
		s.URL = scheme + "://" + address
		s.args = append(append([]string{binary, "--port", address, "--region", S3Region, "--sidecar", metadata}, flags...), root)
		if err = s.start(tb.Context()); err == nil {
			break
		}
	}
	if err != nil {
		tb.Fatalf("enginetest: S3 server: %v", err)
	}
	tb.Cleanup(s.Stop)
	return s
}

// Start starts the server again after Stop, with the same address and objects.
func (s *S3Server) Start(tb testing.TB) {
	tb.Helper()
	if err := s.start(tb.Context()); err != nil {
		tb.Fatalf("enginetest: S3 server: %v", err)
	}
}

// Stop kills the server. Repeated calls have no effect.
func (s *S3Server) Stop() { s.running.Stop() }

func (s *S3Server) start(ctx context.Context) error {
	keys := []string{"ROOT_ACCESS_KEY_ID=" + S3AccessKeyID, "ROOT_SECRET_ACCESS_KEY=" + S3Secret}
	var err error
	if s.running, err = daemon.Start(daemon.Config{Command: s.args, Environment: keys, Ready: s.URL, Wait: startWait}); err != nil {
		return err
	}
	// The server prints its address before it listens there.
	return awaitPort(ctx, s.args[2])
}

// awaitPort waits until a server listens on an address.
func awaitPort(ctx context.Context, address string) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	var dialer net.Dialer
	for {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-pause.C:
		case <-ctx.Done():
			return err
		}
	}
}

// s3Binary returns the path of the server's program. It builds the program unless an earlier
// call of any process did.
func s3Binary() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	_, here, _, _ := runtime.Caller(0)
	source := filepath.Join(filepath.Dir(here), filepath.FromSlash(s3Module))
	name, err := s3Name(source)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, "mailhelm-test-servers")
	binary := filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	lock, err := lockFile(filepath.Join(dir, "lock"), syscall.LOCK_EX)
	if err != nil {
		return "", err
	}
	defer unlock(lock)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s3BuildTime)
	defer cancel()
	unfinished := binary + "-unfinished"
	// The server is built once and works little, so the compiler does not optimize it, and collects garbage less
	// often. The standard library and the SDK of Amazon come from the cache of other builds in CI, because
	// GOFLAGS stays as it is.
	cmd := exec.CommandContext(ctx, "go", "build", "-gcflags=github.com/...=-N -l -dwarf=false", "-o", unfinished)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GOGC=400")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("go build in %s: %w: %s", source, err, output), ctx.Err())
	}
	return binary, os.Rename(unfinished, binary)
}

// s3Name returns the name of the server's program, which is another one for another source or
// another version of what it imports.
func s3Name(source string) (string, error) {
	digest := sha256.New()
	for _, name := range []string{"main.go", "go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return "", err
		}
		digest.Write(content)
	}
	return fmt.Sprintf("s3server-%x", digest.Sum(nil)[:8]), nil
}
