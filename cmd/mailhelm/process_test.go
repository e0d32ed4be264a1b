package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is the file name under which the test binary runs main instead of the tests.
const program = "mailhelm"

// binary returns the path of a symbolic link to this test binary. The link has the file
// name of the constant program, so that the test binary runs main. The link is made once
// for all tests of this package. Compiling the program would take longer than most of the
// tests.
var binary = sync.OnceValues(func() (string, error) {
	tests, err := os.Executable()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "mailhelm-binary-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, program)
	return path, os.Symlink(tests, path)
})

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "curl":
		os.Exit(curl(os.Args[1:]))
	case program:
		main()
		os.Exit(0)
	}
	flag.Parse()
	runAtOnce(4)
	code := m.Run()
	if path, err := binary(); err == nil {
		os.RemoveAll(filepath.Dir(path)) //nolint:errcheck // in the temporary folder
	}
	os.Exit(code)
}

// runAtOnce sets the number of tests that run at the same time, unless the flag -parallel
// was given or the default is higher. The tests mostly wait for servers, so the default, the
// number of processors, leaves processors idle.
func runAtOnce(tests int) {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given || runtime.GOMAXPROCS(0) >= tests {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(tests)); err != nil {
		panic(err) // cannot happen: the flag exists and takes numbers
	}
}

const (
	startTimeout = 60 * time.Second // allows for a busy machine
	endTimeout   = 30 * time.Second
)

// process is a running instance of the program.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr *transcript
	ended  chan struct{}
	err    error // of Wait, after ended
}

// launch starts a process of the program (see the variable binary) with the arguments and
// additional environment variables. It stops the process at the end of the test.
func launch(t *testing.T, environment []string, args ...string) *process {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: exec.Command(path, args...), stderr: newTranscript(), ended: make(chan struct{})}
	p.cmd.Env = append(withoutSettings(os.Environ()), environment...)
	p.cmd.Dir = t.TempDir()
	p.cmd.Stderr = p.stderr
	out, in := io.Pipe()
	p.cmd.Stdout, p.stdout = in, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		in.Close() //nolint:errcheck // a pipe in memory
		close(p.ended)
	}()
	t.Cleanup(func() {
		go io.Copy(io.Discard, p.stdout) //nolint:errcheck // so that nothing blocks on it
		p.signal(syscall.SIGTERM)
		if !p.waits() {
			p.cmd.Process.Kill() //nolint:errcheck // it may have ended just now
			<-p.ended
			t.Errorf("the process did not end by itself:\n%s", p.stderr)
		}
	})
	return p
}

func withoutSettings(environment []string) []string {
	var kept []string
	for _, v := range environment {
		if !strings.HasPrefix(v, "MAILHELM_") {
			kept = append(kept, v)
		}
	}
	return kept
}

func (p *process) signal(s os.Signal) {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Errorf("signal: %v", err)
	}
}

// waits waits for the end of the process. It returns false if the process still runs after
// 30 seconds.
func (p *process) waits() bool {
	select {
	case <-p.ended:
		return true
	case <-time.After(endTimeout):
		return false
	}
}

// exit stops the process with SIGTERM. The test ends with an error unless the exit status
// is 0.
func (p *process) exit() {
	p.t.Helper()
	go io.Copy(io.Discard, p.stdout) //nolint:errcheck // so that nothing blocks on it
	p.signal(syscall.SIGTERM)
	if !p.waits() {
		p.t.Fatalf("the process did not end:\n%s", p.stderr)
	}
	if p.err != nil {
		p.t.Fatalf("the process ended with %v:\n%s", p.err, p.stderr)
	}
}

// demoOutput is the JSON object of addresses and credentials that `mailhelm demo --json`
// prints.
type demoOutput map[string]string

// launchDemo starts `mailhelm demo --json` on free ports. It returns the process and the
// object that it prints.
func launchDemo(t *testing.T, dir string, more ...string) (*process, demoOutput) {
	t.Helper()
	args := append([]string{"demo", "--json", "--data", dir, "--port", strconv.Itoa(firstOfSixPorts(t))}, more...)
	p := launch(t, nil, args...)
	var answer demoOutput
	decoded := make(chan error, 1)
	go func() { decoded <- json.NewDecoder(p.stdout).Decode(&answer) }()
	select {
	case err := <-decoded:
		if err != nil {
			t.Fatalf("demo --json: %v\n%s", err, p.stderr)
		}
	case <-time.After(startTimeout):
		t.Fatalf("demo printed nothing:\n%s", p.stderr)
	}
	return p, answer
}

// launchServe starts `mailhelm serve` on free ports and waits until it is ready. It returns
// the process and the first of its six ports.
func launchServe(t *testing.T, environment []string, args ...string) (*process, int) {
	t.Helper()
	port := firstOfSixPorts(t)
	p := launch(t, environment, append([]string{"serve", "--port", strconv.Itoa(port)}, args...)...)
	p.awaits(`"msg":"ready"`)
	return p, port
}

// awaits waits until the process has written text to standard error. After a minute it ends
// the test.
func (p *process) awaits(text string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), startTimeout)
	defer cancel()
	if !p.stderr.wait(ctx, p.ended, text) {
		p.t.Fatalf("standard error never said %q:\n%s", text, p.stderr)
	}
}

var ports = struct {
	sync.Mutex
	next int
}{next: 20000 + rand.IntN(2000)*6}

// firstOfSixPorts returns the first of six consecutive free ports. Each call returns other
// ports.
func firstOfSixPorts(t *testing.T) int {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	for range 200 {
		first := ports.next
		// the system assigns ports above 32000 to outgoing connections
		if ports.next += 6; ports.next > 32000 {
			ports.next = 20000
		}
		if allFree(first) {
			return first
		}
	}
	t.Fatal("no six free ports in a row")
	return 0
}

func allFree(first int) bool {
	for port := first; port < first+6; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			return false
		}
		l.Close() //nolint:errcheck // it was opened to see whether it can be
	}
	return true
}

// transcript is a writer that collects the output of a process. Its method wait waits until
// the output contains a text.
type transcript struct {
	mu      sync.Mutex
	text    strings.Builder
	changed chan struct{}
}

func newTranscript() *transcript { return &transcript{changed: make(chan struct{})} }

func (tr *transcript) Write(b []byte) (int, error) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	close(tr.changed)
	tr.changed = make(chan struct{})
	return tr.text.Write(b)
}

func (tr *transcript) String() string {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.text.String()
}

func (tr *transcript) wait(ctx context.Context, ended <-chan struct{}, text string) bool {
	for {
		tr.mu.Lock()
		changed, found := tr.changed, strings.Contains(tr.text.String(), text)
		tr.mu.Unlock()
		if found {
			return true
		}
		select {
		case <-changed:
		case <-ended:
			return strings.Contains(tr.String(), text)
		case <-ctx.Done():
			return false
		}
	}
}

// answer is an HTTP response with its whole body.
type answer struct {
	status int
	header http.Header
	body   string
}

func request(t *testing.T, method, address, bearer, body string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	a, err := ask(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ask sends an HTTP request on a new connection and reads the whole response. It may be
// called from any goroutine.
func ask(r *http.Request) (answer, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: endTimeout}
	a, err := client.Do(r)
	if err != nil {
		return answer{}, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	return answer{a.StatusCode, a.Header, string(text)}, err
}
