package faults

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inbound/spool"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

const (
	mailDomain = "in.acme.example"
	// clients is the number of connections over which mail comes in.
	clients = 16
	// afterLeases is longer than every lease of a message, an endpoint or a delivery.
	afterLeases = 5 * time.Minute
)

// mailSize returns the number of kills, and how many messages come in at least.
func mailSize() (kills, messages int) {
	if enginetest.Full() {
		return 100, 5000
	}
	return 3, 200
}

// TestKilledServersReceiveMail kills servers while mail comes in by SMTP for inboxes and a
// receiving domain. Each message that got 250 must be in its inbox and in the log of the domain
// once, with its content, and must reach the webhook under one id. An attempt without 250 may
// leave the message once.
func TestKilledServersReceiveMail(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		kills, messages := mailSize()
		chance := rand.New(rand.NewPCG(uint64(kills), 19))
		m := newMailScene(t, postgres, false, messages)
		began := time.Now()
		at := m.killServers(t, clients, kills, 2*messages/kills, chance)
		took := time.Since(began)
		m.end(t, at)
		t.Logf("%d kills in %v: %s", kills, took.Round(time.Second), m.figures)
	})
}

// killServers kills servers while mail comes in over a number of connections: each after a drawn
// number of mails below most. It returns a server that runs when all mail has come in.
func (m *mailScene) killServers(t *testing.T, connections, kills, most int, chance *rand.Rand) *server {
	t.Helper()
	var senders sync.WaitGroup
	for range connections {
		senders.Go(m.mailer.run)
	}
	for range kills {
		at := launch(t, m.life)
		m.mailer.use(at.smtp)
		m.receive(t, at, chance.IntN(most), chance)
		at.kill(t)
	}
	m.mailer.stop()
	at := launch(t, m.life)
	m.mailer.use(at.smtp)
	senders.Wait()
	return at
}

// mailScene is an organization that receives mail.
type mailScene struct {
	*scene
	mailer *mailer
	hook   *mailHook
	// inboxes has the ids of the inboxes by address.
	inboxes map[string]string
	objects *files.Files
	// named has the keys of the objects of messages.
	named map[string]bool
	// orphans is the number of objects of no message before the sweep.
	orphans int
	figures string
}

// mailHook keeps the webhook-ids with which messages were delivered.
type mailHook struct {
	server *httptest.Server

	mu       sync.Mutex
	requests int
	ids      map[string]map[string]bool // by the subject of the message
}

func newMailHook(t *testing.T) *mailHook {
	t.Helper()
	h := &mailHook{ids: map[string]map[string]bool{}}
	h.server = httptest.NewTLSServer(h)
	t.Cleanup(h.server.Close)
	return h
}

func (h *mailHook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Message struct{ Subject string }
	}
	content, err := io.ReadAll(r.Body)
	if err = errors.Join(err, json.Unmarshal(content, &body)); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests++
	of := h.ids[body.Message.Subject]
	if of == nil {
		of = map[string]bool{}
		h.ids[body.Message.Subject] = of
	}
	of[r.Header.Get("webhook-id")] = true
}

// emptyMailScene returns an organization whose objects are in a folder.
func emptyMailScene(t *testing.T, postgres, restarts bool) *mailScene {
	t.Helper()
	m := &mailScene{scene: newScene(t, postgres, restarts, 1), named: map[string]bool{}}
	var err error
	m.objects, err = files.New(files.Config{Folder: m.config().ObjectsFolder(), Key: make([]byte, files.KeyBytes), Clock: core.SystemClock})
	must(t, err)
	return m
}

// newMailScene creates inboxes, and a receiving domain with a published webhook. No server runs
// afterwards. On PostgreSQL it has a database server of its own if the test restarts it.
func newMailScene(t *testing.T, postgres, restarts bool, messages int) *mailScene {
	t.Helper()
	m := emptyMailScene(t, postgres, restarts)
	m.hook, m.inboxes = newMailHook(t), map[string]string{}
	m.Roots = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.hook.server.Certificate().Raw})
	m.change(t, func(ctx context.Context, h *serve.Host) error {
		return h.DB().ReceivingDomains().InsertDomain(ctx, m.org, receiving.Domain{
			ID: core.NewID(), Domain: mailDomain, Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: h.Clock()(),
		})
	})
	at := launch(t, m.life)
	defer at.kill(t)
	path := "/v1/inbound/domains/" + mailDomain
	if status, answer := m.call(t, at, http.MethodPut, path+"/webhook", `{"webhook_url":"`+m.hook.server.URL+`","allow_patterns":["*"]}`); status != http.StatusOK {
		t.Fatalf("webhook: %d %v", status, answer)
	}
	var recipients [][]string
	for i := range 3 {
		status, made := m.call(t, at, http.MethodPost, "/v1/inboxes", `{"ttl":3600}`)
		address, _ := made["address"].(string)
		id, _ := made["id"].(string)
		if status != http.StatusCreated || address == "" || id == "" {
			t.Fatalf("inbox: %d %v", status, made)
		}
		m.inboxes[address] = id
		atDomain := fmt.Sprintf("sales%d@%s", i, mailDomain)
		recipients = append(recipients, []string{address}, []string{atDomain}, []string{address, atDomain})
	}
	m.mailer = newMailer(messages, recipients)
	product.Await(t, patience, func() error {
		_, read := m.call(t, at, http.MethodGet, path, "")
		if hook, _ := read["webhook"].(map[string]any); hook["status"] != "published" {
			return fmt.Errorf("the webhook is not published: %v", read)
		}
		return nil
	})
	return m
}

// receive waits until a server has accepted more messages, and then for a random time, so that it
// is killed at any point of its work.
func (m *mailScene) receive(t *testing.T, at *server, more int, chance *rand.Rand) {
	t.Helper()
	timeout := time.After(patience)
	for until := m.mailer.acknowledged() + more; m.mailer.acknowledged() < until; {
		select {
		case <-m.mailer.progress:
		case <-timeout:
			t.Fatalf("no more messages are accepted\n%s", at.logged())
		}
	}
	longest := 20 * time.Millisecond
	if chance.IntN(4) == 0 {
		longest = longestLife
	}
	<-time.After(time.Duration(chance.Int64N(int64(longest))))
}

// end kills the server, lets another process and deliver what the first one had begun, and checks
// all messages.
func (m *mailScene) end(t *testing.T, at *server) {
	t.Helper()
	at.kill(t)
	m.Ahead = afterLeases
	at = launch(t, m.life)
	defer at.kill(t)
	m.complete(t, at)
	m.check(t)
	m.sweep(t)
}

// complete waits until all messages are processed and delivered.
func (m *mailScene) complete(t *testing.T, at *server) {
	t.Helper()
	m.awaitNone(t, at, map[string]string{
		"messages are not processed": `SELECT count(*) FROM received_mail WHERE org_id = $1`,
		"deliveries are due":         `SELECT count(*) FROM receiving_deliveries WHERE org_id = $1 AND due_at IS NOT NULL`,
	})
}

// awaitNone waits until each query counts nothing in the organization.
func (m *mailScene) awaitNone(t *testing.T, at *server, queries map[string]string) {
	t.Helper()
	product.Await(t, patience, func() error {
		for what, query := range queries {
			if n := one(t, m.db, query, m.org); n > 0 {
				return fmt.Errorf("%s: %d\n%s", what, n, at.logged())
			}
		}
		return nil
	})
}

// stored counts the places in which a message was found.
type stored struct{ inInbox, inLog int }

// check compares what the client knows of each attempt with what is stored and delivered.
func (m *mailScene) check(t *testing.T) {
	t.Helper()
	all := map[string]*stored{} // by subject
	ids := map[string]string{}  // message ids by subject
	add := func(subject, id string) *stored {
		if all[subject] == nil {
			all[subject] = &stored{}
		}
		if before := ids[subject]; before != "" && before != id {
			t.Errorf("the message %s has the ids %s and %s", subject, before, id)
		}
		ids[subject] = id
		return all[subject]
	}
	m.read(t, `SELECT message_id, message, message FROM inbox_messages WHERE org_id = $1`, func(c []string) {
		add(m.checkContent(t, c[1]), c[0]).inInbox++
	})
	m.read(t, `SELECT l.message_id, c.content, l.outcome FROM receiving_messages AS l
		JOIN receiving_contents AS c ON c.org_id = l.org_id AND c.message_id = l.message_id WHERE l.org_id = $1`, func(c []string) {
		if add(m.checkContent(t, c[1]), c[0]).inLog++; c[2] != string(receiving.Delivered) {
			t.Errorf("the outcome of message %s is %s", c[0], c[2])
		}
	})
	of := map[result]int{}
	again := 0
	for _, a := range m.mailer.attempts {
		of[a.result]++
		found := all[a.name]
		if delete(all, a.name); found == nil {
			found = &stored{}
		}
		want := stored{}
		for _, to := range a.to {
			if m.inboxes[to] != "" {
				want.inInbox++
			} else {
				want.inLog++
			}
		}
		unacknowledged := a.result == unknown && *found == stored{}
		if a.result == incomplete {
			want = stored{}
		} else if a.result == unknown && !unacknowledged {
			again++
		}
		if *found != want && !unacknowledged || a.result == acknowledged && ids[a.name] != a.id {
			t.Errorf("the attempt %+v: stored %+v with id %s, want %+v", a, *found, ids[a.name], want)
		}
		if hooks := len(m.hook.ids[a.name]); hooks != found.inLog {
			t.Errorf("the message %s was delivered under %d webhook-ids, want %d", a.name, hooks, found.inLog)
		}
	}
	if len(all) > 0 {
		t.Errorf("messages that were never sent: %v", all)
	}
	m.orphans = m.leftovers(t)
	m.figures = fmt.Sprintf("%d acknowledged, %d without 250 after their end, of which %d are stored, %d incomplete; refusals %v; %d requests for %d deliveries, %d objects of no message",
		of[acknowledged], of[unknown], again, of[incomplete], m.mailer.refusals, m.hook.requests, len(m.hook.ids), m.orphans)
}

// read calls take with the three texts of each row of the organization.
func (m *mailScene) read(t *testing.T, query string, take func(columns []string)) {
	t.Helper()
	rows, err := m.db.QueryContext(t.Context(), query, m.org)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		c := make([]string, 3)
		must(t, rows.Scan(&c[0], &c[1], &c[2]))
		take(c)
	}
	must(t, rows.Err())
}

// checkContent checks that the objects of a message are complete, and returns its subject.
func (m *mailScene) checkContent(t *testing.T, text string) string {
	t.Helper()
	var message inbound.Message
	must(t, json.Unmarshal([]byte(text), &message))
	ends := map[string]string{message.RawKey: "--b--\r\n"}
	for _, file := range message.Attachments {
		ends[file.Key] = "The terms of " + message.Subject
	}
	for key, end := range ends {
		m.named[key] = true
		content, err := m.open(t, key)
		if err != nil || !strings.Contains(string(content), message.Subject) || !strings.HasSuffix(strings.TrimRight(string(content), "\r\n"), strings.TrimRight(end, "\r\n")) {
			t.Errorf("object %s of message %s: %d bytes, %v", key, message.Subject, len(content), err)
		}
	}
	if len(ends) != 2 {
		t.Errorf("message %s has %d objects, want 2", message.Subject, len(ends))
	}
	return message.Subject
}

// open returns the content of an object.
func (m *mailScene) open(t *testing.T, key string) ([]byte, error) {
	t.Helper()
	body, err := m.objects.Open(t.Context(), key)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(body)
	return content, errors.Join(err, body.Close())
}

// All returns the store of the organization.
func (m *mailScene) All(context.Context, string) ([]objects.Store, error) {
	return []objects.Store{m.objects.Of(m.org)}, nil
}

// sweep does what a job of the product does a week later, and checks that each object is one of a
// message.
func (m *mailScene) sweep(t *testing.T) {
	t.Helper()
	db, err := storage.Open(t.Context(), serve.StorageOf(m.config()))
	must(t, err)
	sweeper := spool.NewSweeper(spool.SweepConfig{
		Places: m, Holders: []spool.Holder{db.ReceivedMail(), db.Inboxes(), db.ReceivedDeliveries(), db.ReportArrivals()},
		Log: slog.New(slog.DiscardHandler), Clock: func() time.Time { return time.Now().Add(spool.LeftoverAge + time.Minute) },
	})
	must(t, errors.Join(sweeper.Sweep(t.Context(), m.org), db.Close()))
	if n := m.leftovers(t); n != 0 {
		t.Errorf("the sweep leaves %d objects too many", n)
	}
}

// leftovers returns the number of objects that no message names.
func (m *mailScene) leftovers(t *testing.T) int {
	t.Helper()
	keys, next, err := m.objects.Of(m.org).List(t.Context(), m.org, time.Now().Add(time.Hour), "", 1_000_000)
	if err != nil || next != "" {
		t.Fatalf("list of objects: the next page is %q, %v", next, err)
	}
	return len(keys) - len(m.named)
}
