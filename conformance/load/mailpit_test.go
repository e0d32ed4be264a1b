package load

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// mailpitVariable is the environment variable with the path of a Mailpit program. RESULTS.md
// says how to build it.
const mailpitVariable = "MAILHELM_BENCH_MAILPIT"

// mailpit is a running Mailpit.
type mailpit struct {
	smtp, api string
	pid       int
	client    http.Client
}

// startMailpit starts Mailpit with a database file and its default settings, except that it
// keeps all messages. It connects to no other host: its look-ups of names and its check for
// updates are off.
func startMailpit(b *testing.B, binary string) *mailpit {
	b.Helper()
	m := &mailpit{smtp: "127.0.0.1:" + freePort(b), api: "127.0.0.1:" + freePort(b), client: http.Client{Timeout: receiverWait}}
	dir := b.TempDir()
	cmd := exec.Command(binary, "--database", filepath.Join(dir, "mailpit.db"), "--max", "0", "--smtp", m.smtp, "--listen", m.api,
		"--smtp-disable-rdns", "--disable-version-check", "--quiet")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	must(b, cmd.Start())
	m.pid = cmd.Process.Pid
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	awaitTrue(b, receiverWait, "Mailpit is ready", func() bool {
		res, err := m.client.Get("http://" + m.api + "/readyz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return m
}

// visible returns how many messages its API shows.
func (m *mailpit) visible(b *testing.B) int {
	b.Helper()
	res, err := m.client.Get("http://" + m.api + "/api/v1/info")
	must(b, err)
	defer res.Body.Close()
	var info struct{ Messages int }
	must(b, json.NewDecoder(res.Body).Decode(&info))
	return info.Messages
}
