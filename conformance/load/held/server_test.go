package held

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/program"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// contacts is the number of contacts of an organization.
const contacts = 5000

// startTimeout limits the start and the end of the server.
const startTimeout = time.Minute

// server is a running `mailhelm serve` with its default settings, except the limit of activities.
type server struct {
	binary, database, data string
	api, auth, mcp, admin  string // URLs
	cmd                    *exec.Cmd
	log                    *os.File
}

// start starts the program at a path as a server on a new database: "sqlite" or "postgres". It ends
// with the benchmark.
func start(b *testing.B, binary, database string) *server {
	b.Helper()
	s := &server{binary: binary, data: b.TempDir()}
	if database == "postgres" {
		s.database = enginetest.DurableServer(b).URL()
	}
	port := program.FreePorts(b, 17000, 6)
	at := func(offset int) string { return "http://localhost:" + strconv.Itoa(port+offset) }
	s.api, s.auth, s.mcp, s.admin = at(0), at(1), at(2), at(5)
	var err error
	s.log, err = os.Create(filepath.Join(s.data, "server.log"))
	must(b, err)
	s.cmd = exec.Command(s.binary, s.args("serve", "--port", strconv.Itoa(port), "--activities-per-minute", "1000000000", "--log-level", "warn")...)
	s.cmd.Env, s.cmd.Stderr = program.Environment(), s.log
	must(b, s.cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	b.Cleanup(func() { s.stop(b, ended) })
	for until := time.Now().Add(startTimeout); ; time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a process of its own
		if answer, err := admin.Get(s.admin + "/readyz"); err == nil { //nolint:noctx // on the loopback
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return s
			}
		}
		if time.Now().After(until) {
			b.Fatalf("the server was not ready in time:\n%s", s.logged())
		}
	}
}

// args returns the arguments of a command on the data of the server.
func (s *server) args(args ...string) []string {
	args = append(args, "--data", s.data)
	if s.database != "" {
		args = append(args, "--database-url", s.database)
	}
	return args
}

// stop ends the server, which must take no longer than startTimeout.
func (s *server) stop(b *testing.B, ended <-chan error) {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case err := <-ended:
		if err != nil {
			b.Errorf("the server ended with %v:\n%s", err, s.logged())
		}
	case <-time.After(startTimeout):
		_ = s.cmd.Process.Kill()
		b.Errorf("the server did not end by itself:\n%s", s.logged())
	}
	_ = s.log.Close()
}

// logged returns the end of the server's log.
func (s *server) logged() []byte {
	const most = 4000
	text, _ := os.ReadFile(s.log.Name()) // the caller reports a failure anyway
	return text[max(0, len(text)-most):]
}

// command runs a command of mailhelm and decodes its JSON output into result.
func (s *server) command(b *testing.B, result any, args ...string) {
	b.Helper()
	out := program.Output(b, s.binary, s.args(append(args, "--json")...)...)
	must(b, json.Unmarshal(out, result))
}

// org is an organization of a server with [contacts] contacts, and its credentials.
type org struct {
	server           *server
	key              string
	client, password string // of the OAuth client

	mu       sync.Mutex
	token    string // for the agent endpoint
	issuedAt time.Time
}

// create creates an organization and its contacts. limit is its number of calls a minute, 0 for
// none.
func (s *server) create(b *testing.B, slug string, limit int) *org {
	b.Helper()
	var ignored map[string]any
	s.command(b, &ignored, "admin", "org", "create", slug, "--name", slug)
	var key struct{ Secret string }
	s.command(b, &key, "admin", "key", "create", slug, "--name", slug, "--scopes", "all")
	var client struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	s.command(b, &client, "admin", "client", "create", slug, "--name", slug, "--scopes", "all")
	o := &org{server: s, key: key.Secret, client: client.ID, password: client.Secret}
	o.fill(b)
	if limit > 0 {
		s.command(b, &ignored, "admin", "org", "set-limit", slug, strconv.Itoa(limit))
	}
	return o
}

// fill writes the contacts, and waits until all are there.
func (o *org) fill(b *testing.B) {
	b.Helper()
	const perCall = 1000
	for from := 0; from < contacts; from += perCall {
		rows := make([]string, perCall)
		for i := range rows {
			rows[i] = fmt.Sprintf(`{"email":%q}`, address(from+i))
		}
		var job struct {
			ID     string `json:"job_id"`
			Status string
		}
		o.must(b, &job, http.MethodPost, "/v1/contacts/bulk", `{"contacts":[`+strings.Join(rows, ",")+`]}`)
		for until := time.Now().Add(2 * startTimeout); job.Status != "completed"; time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a process of its own
			if time.Now().After(until) {
				b.Fatalf("the contacts were not written in time, the job is %q:\n%s", job.Status, o.server.logged())
			}
			o.must(b, &job, http.MethodGet, "/v1/contacts/bulk/"+job.ID, "")
		}
	}
	for i := range 3 {
		var ignored map[string]any
		o.must(b, &ignored, http.MethodPost, "/v1/lists", fmt.Sprintf(`{"key":"list-%d","name":"List %d"}`, i, i))
	}
}

func address(n int) string { return fmt.Sprintf("reader%d@example.com", n) }

// must sends a request that has to succeed, and decodes the answer into result.
func (o *org) must(b *testing.B, result any, method, path, body string) {
	b.Helper()
	answer, err := admin.Do(o.request(b.Context(), method, path, body))
	must(b, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(b, err)
	if answer.StatusCode >= http.StatusMultipleChoices {
		b.Fatalf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
	must(b, json.Unmarshal(text, result))
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}
