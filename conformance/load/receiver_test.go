package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

const (
	// inboxDomain is the default domain of temporary inboxes.
	inboxDomain = "inbox.localhost"
	// receiverWait is the time limit for the start of a server.
	receiverWait = time.Minute
)

// receiver is a process of `mailhelm serve`, with one organization that has inboxes.
type receiver struct {
	name             string
	pid              int
	smtp, api, admin string
	fetch            string
	key              string // API key of the organization
	db               storage.Config
	orgID            string
	boxes            []inboxes.Inbox
	links            []string // the secrets of the inboxes' pull links
	http             *http.Client
}

// startReceiver starts the server in a process of its own, with a new database and n inboxes.
// PostgreSQL waits for the disk at each commit, as SQLite does. The server asks only the given
// name server.
func startReceiver(b *testing.B, binary, database, dns string, n int) *receiver {
	b.Helper()
	port := freeRow(b)
	r := &receiver{
		name: database, db: storage.Config{Dir: b.TempDir()},
		api: "http://127.0.0.1:" + strconv.Itoa(port), fetch: "http://127.0.0.1:" + strconv.Itoa(port+3), smtp: "127.0.0.1:" + strconv.Itoa(port+4),
		admin: "http://127.0.0.1:" + strconv.Itoa(port+5),
		http:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}, Timeout: 30 * time.Second},
	}
	args := []string{
		"serve", "--data", r.db.Dir, "--port", strconv.Itoa(port), "--dns-servers", dns, "--trusted-proxies", "127.0.0.0/8",
		"--mail-host", "mx.example.net",
	}
	if database == "postgres" {
		r.db.URL = enginetest.DurableServer(b).URL()
		args = append(args, "--database-url", r.db.URL)
	}
	r.provision(b, n)
	cmd := exec.Command(binary, args...)
	log, err := os.Create(filepath.Join(b.TempDir(), "log"))
	must(b, err)
	cmd.Stdout, cmd.Stderr = log, log
	must(b, cmd.Start())
	r.pid = cmd.Process.Pid
	b.Cleanup(func() {
		r.http.CloseIdleConnections()
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = log.Close()
		if b.Failed() {
			text, _ := os.ReadFile(log.Name())
			b.Logf("the server's log ends with:\n%s", text[max(0, len(text)-4000):])
		}
	})
	awaitTrue(b, receiverWait, "the server is ready", func() bool {
		res, err := r.http.Get(r.admin + "/readyz")
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return res.StatusCode == http.StatusOK
	})
	return r
}

// provision creates the schema, the organization, its API key and its inboxes.
func (r *receiver) provision(b *testing.B, n int) {
	b.Helper()
	db, err := storage.Open(b.Context(), r.db)
	must(b, err)
	defer func() { _ = db.Close() }()
	must(b, db.Migrate(b.Context()))
	p := provision.Provisioner{Stores: db.Access(), Orgs: db.Orgs(), Users: db.Users(), Members: db.Members(), Tx: db, Clock: core.SystemClock}
	org, err := p.CreateOrg(b.Context(), core.Org{Name: "Load", Slug: "load", Tier: "team"})
	must(b, err)
	r.orgID = org.ID
	_, r.key, err = p.CreateAPIKey(b.Context(), provision.Grant{OrgID: org.ID, Name: "load", Environment: core.Live, Scopes: core.AllScopes()})
	must(b, err)
	now := core.SystemClock()
	for i := range n {
		link := access.MintLink()
		box := inboxes.Inbox{
			ID: core.NewID(), OrgID: org.ID, LocalPart: fmt.Sprintf("load%06d", i), Visibility: inboxes.Shared, CreatedAt: now, ExpiresAt: now.Add(24 * time.Hour),
		}
		box.First = inboxes.Token{ID: core.NewID(), InboxID: box.ID, Hash: link.Hash, Prefix: link.Secret[:8], CreatedAt: now}
		added, err := db.Inboxes().InsertInbox(b.Context(), box)
		if err != nil || !added {
			b.Fatalf("inbox: %v, %v", added, err)
		}
		r.boxes, r.links = append(r.boxes, box), append(r.links, link.Secret)
	}
}

// recipients returns the addresses of the inboxes.
func (r *receiver) recipients() []string {
	all := make([]string, len(r.boxes))
	for i, box := range r.boxes {
		all[i] = box.LocalPart + "@" + inboxDomain
	}
	return all
}

// visible returns how many messages the API shows in all inboxes.
func (r *receiver) visible(b *testing.B) int {
	b.Helper()
	sum := 0
	for _, box := range r.boxes {
		var shown struct {
			MessageCount int `json:"message_count"`
			DroppedCount int `json:"dropped_count"`
		}
		r.get(b, "/v1/inboxes/"+box.ID, &shown)
		if shown.DroppedCount != 0 {
			b.Fatalf("%d messages were dropped", shown.DroppedCount)
		}
		sum += shown.MessageCount
	}
	return sum
}

// get calls the API and decodes its answer.
func (r *receiver) get(b *testing.B, path string, into any) {
	b.Helper()
	req, err := http.NewRequest(http.MethodGet, r.api+path, http.NoBody)
	must(b, err)
	req.Header.Set("Authorization", "Bearer "+r.key)
	res, err := r.http.Do(req)
	must(b, err)
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v", path, res.Status, err)
	}
}

// awaitTrue waits until the condition is true.
func awaitTrue(b *testing.B, limit time.Duration, what string, condition func() bool) {
	b.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for began := time.Now(); time.Since(began) < limit; <-ticker.C {
		if condition() {
			return
		}
	}
	b.Fatalf("not within %v: %s", limit, what)
}
