package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/program"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// portsOfServer is the number of ports of an API server; a worker has one.
const portsOfServer = 6

// topology is a running installation.
type topology struct {
	binary string // path of the program
	folder string // of data and logs
	// config is the configuration file of all processes and commands. It has the public
	// addresses, those of the first API server.
	config string
	// environment has variables of all processes.
	environment []string
	// apis are the local addresses of the two API servers, app is that of the dashboard.
	apis [2]string
	app  string
	// first is the first port of the first API server.
	first int
	// admins are the admin addresses of the API servers and then of the workers.
	admins [4]string
	// org is the organization, and key an API key of it with all scopes.
	org, key string
	// servers are the processes of the two API servers, workers those of the two workers.
	servers, workers [2]*process

	// primary and standby change places in a failover.
	primary, standby *enginetest.Server
	bouncer          *enginetest.PgBouncerServer
	redis            *enginetest.RedisServer
	bucket           *enginetest.S3Server
}

// start starts an installation with its first ports from the port from on. Its processes trust the
// certificate authorities of the PEM text, or those of the system if it is empty. report is called
// before each step that takes a while.
func start(tb testing.TB, binary string, from int, authorities []byte, report func(step string)) *topology {
	tb.Helper()
	t := &topology{binary: binary, folder: enginetest.Folder(tb), org: "acme"}
	if len(authorities) > 0 {
		t.environment = []string{"SSL_CERT_FILE=" + t.secretFile(tb, "authorities.pem", string(authorities))}
	}
	report("PostgreSQL and its synchronous standby")
	t.primary, t.standby = enginetest.WithStandby(tb)
	// PgBouncer cannot set this for each connection.
	execute(tb, t.primary, "ALTER DATABASE postgres SET jit = off")
	makeSynchronous(tb, t.primary)
	report("PgBouncer, Redis and the S3 server")
	t.bouncer = enginetest.PgBouncer(tb, t.primary.URL(), enginetest.PgBouncerConfig{
		Servers:  20,
		Settings: []string{"query_wait_timeout = 5", "server_login_retry = 1"}, // as in the guide
	})
	t.redis, t.bucket = enginetest.Redis(tb), enginetest.S3(tb)
	t.configure(tb, from)
	report("the schema and an organization")
	t.setUp(tb)
	report("two API servers and two workers")
	t.serve(tb)
	return t
}

// configure chooses the ports, and writes the configuration file.
func (t *topology) configure(tb testing.TB, from int) {
	tb.Helper()
	t.first = program.FreePorts(tb, from, 2*portsOfServer+2)
	t.apis, t.app = [2]string{localURL(t.first), localURL(t.first + portsOfServer)}, localURL(t.first+1)
	var text strings.Builder
	for _, setting := range [][2]string{
		{"data", filepath.Join(t.folder, "data")},
		{"master-key-file", t.secretFile(tb, "master.key", newKey())},
		{"database-url", t.bouncer.URL(t.primary.URL())},
		// The driver finds the server with the role, so a failover needs no change.
		{"database-direct-url", t.anyURL("primary")},
		{"database-replica-url", t.anyURL("standby")},
		{"redis-url", t.redis.URL},
		{"bucket-networks", "127.0.0.0/8"},
		{"webhook-networks", "127.0.0.0/8"},
		{"mail-host", "mx.example.com"},
		{"dns-servers", "none"}, // no test asks a name server
		{"base-url", t.apis[0]},
		{"auth-url", t.app},
		{"app-url", t.app},
		{"mcp-url", localURL(t.first + 2)},
	} {
		fmt.Fprintf(&text, "%s = %q\n", setting[0], setting[1])
	}
	text.WriteString("activities-per-minute = 1000000\n")
	t.config = t.secretFile(tb, "mailhelm.toml", text.String())
}

func newKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return hex.EncodeToString(key)
}

// secretFile writes a file that only its owner can read, and returns its path.
func (t *topology) secretFile(tb testing.TB, name, content string) string {
	tb.Helper()
	path := filepath.Join(t.folder, name)
	if err := os.WriteFile(path, []byte(content+"\n"), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// setUp migrates the database, and creates an organization that keeps received mail in the
// bucket.
func (t *topology) setUp(tb testing.TB) {
	tb.Helper()
	t.command(tb, "migrate", "up")
	t.command(tb, "admin", "org", "create", t.org, "--name", "Acme")
	var key struct{ Secret string }
	if err := json.Unmarshal([]byte(t.command(tb, "admin", "key", "create", t.org, "--name", "Cluster", "--scopes", "all", "--json")), &key); err != nil {
		tb.Fatal(err)
	}
	t.key = key.Secret
	t.command(tb, "admin", "org", "mail-storage", "set", t.org,
		"--bucket", enginetest.S3Bucket, "--region", enginetest.S3Region, "--endpoint", t.bucket.URL, "--path-style",
		"--access-key-id", enginetest.S3AccessKeyID, "--secret-file", t.secretFile(tb, "s3.secret", enginetest.S3Secret))
}

// command runs a command of mailhelm on the installation and returns its standard output.
func (t *topology) command(tb testing.TB, args ...string) string {
	tb.Helper()
	return string(program.Output(tb, t.binary, append(args, "--config", t.config)...))
}

// serve starts the processes.
func (t *topology) serve(tb testing.TB) {
	tb.Helper()
	for i := range 2 {
		port := t.first + i*portsOfServer
		t.admins[i] = localURL(port + portsOfServer - 1)
		t.servers[i] = t.run(tb, fmt.Sprintf("api-%d", i+1), "--role", "api", "--port", strconv.Itoa(port))
	}
	for i := range 2 {
		port := t.first + 2*portsOfServer + i
		t.admins[2+i] = localURL(port)
		t.workers[i] = t.run(tb, fmt.Sprintf("worker-%d", i+1), "--role", "worker", "--admin-addr", fmt.Sprintf("127.0.0.1:%d", port))
	}
}
