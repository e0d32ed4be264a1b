package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestDatabaseRestartsDuringReception restarts PostgreSQL while mail comes in. The server goes
// on by itself, and every message that got 250 is stored.
func TestDatabaseRestartsDuringReception(t *testing.T) {
	t.Parallel()
	const restarts, messages = 2, 150
	m := newMailScene(t, true, true, messages)
	at := launch(t, m.life)
	m.mailer.use(at.smtp)
	var senders sync.WaitGroup
	for range clients {
		senders.Go(m.mailer.run)
	}
	chance := rand.New(rand.NewPCG(restarts, messages))
	for range restarts {
		m.receive(t, at, messages/(2*restarts), chance)
		m.postgres.Stop(t)
		m.postgres.Start(t)
	}
	m.receive(t, at, 1, chance)
	m.mailer.stop()
	senders.Wait()
	m.end(t, at)
	if m.mailer.refusals["451"] == 0 {
		t.Errorf("no message or recipient was put off with 451 while the database was away: %v", m.mailer.refusals)
	}
	t.Log(m.figures)
}

// one sends one message to the first inbox and returns the attempt and its error.
func (m *mailScene) one(t *testing.T, at *server) (attempt, error) {
	t.Helper()
	c, err := dial(at.smtp)
	must(t, err)
	defer c.Close() //nolint:errcheck // the replies count
	m.mailer.began++
	a := attempt{name: fmt.Sprintf("one%d", m.mailer.began), to: m.mailer.recipients[0]}
	err = a.send(c)
	m.mailer.note(a, err)
	return a, err
}

// putOff checks that a message gets 451, and leaves no task and no object.
func (m *mailScene) putOff(t *testing.T, at *server, why string) {
	t.Helper()
	_, err := m.one(t, at)
	if reply, ok := errors.AsType[*textproto.Error](err); !ok || reply.Code != 451 {
		t.Errorf("%s: the reply to a message is %v, want 451", why, err)
	}
	if n := one(t, m.db, `SELECT count(*) FROM received_mail WHERE org_id = $1`, m.org); n != 0 {
		t.Errorf("%s: %d tasks", why, n)
	}
}

// accepts sends a message and waits until it is in its inbox: a process that is killed before that
// can leave objects to the sweep.
func (m *mailScene) accepts(t *testing.T, at *server, when string) {
	t.Helper()
	a, err := m.one(t, at)
	if err != nil {
		t.Fatalf("%s: %v", when, err)
	}
	m.arrives(t, at, a)
}

// checkNothingLeft checks that the messages that were put off left no objects for the sweep.
func (m *mailScene) checkNothingLeft(t *testing.T) {
	t.Helper()
	if m.orphans != 0 {
		t.Errorf("%d objects of messages that were put off", m.orphans)
	}
}

// TestAnotherWriterLocksTheDatabase holds the lock of SQLite, as a program of the operator could
// do, for longer than a write waits.
func TestAnotherWriterLocksTheDatabase(t *testing.T) {
	t.Parallel()
	m := newMailScene(t, false, false, 0)
	m.CallerWait = 200 * time.Millisecond
	at := launch(t, m.life)
	conn, err := m.db.Conn(t.Context())
	must(t, err)
	_, err = conn.ExecContext(t.Context(), `BEGIN IMMEDIATE`)
	must(t, err)
	m.putOff(t, at, "locked database")
	_, err = conn.ExecContext(t.Context(), `ROLLBACK`)
	must(t, errors.Join(err, conn.Close()))
	m.accepts(t, at, "after the lock")
	m.end(t, at)
	m.checkNothingLeft(t)
}

// TestFolderOfMailIsGone takes the folder of received mail away from a running server: its disk
// is not mounted, or a file is in the place of the folder of the organization. Mail that was
// accepted before is delivered when the folder is back.
func TestFolderOfMailIsGone(t *testing.T) {
	t.Parallel()
	m := newMailScene(t, false, false, 0)
	folder := m.config().ObjectsFolder()
	ofOrg := filepath.Join(folder, m.org)
	at := launch(t, m.life)
	must(t, os.Rename(folder, folder+".away"))
	m.putOff(t, at, "folder away")
	must(t, os.Mkdir(folder, 0o700)) // the empty folder below the mount point
	m.putOff(t, at, "disk not mounted")
	must(t, errors.Join(os.Remove(folder), os.Rename(folder+".away", folder)))
	must(t, os.WriteFile(ofOrg, nil, 0o600))
	m.putOff(t, at, "a file in place of the folder")
	must(t, os.Remove(ofOrg))
	m.accepts(t, at, "with the folder")
	m.end(t, at)
	m.checkNothingLeft(t)
}

// TestBucketIsGone stops the S3 server of an organization, before and after a message was
// accepted.
func TestBucketIsGone(t *testing.T) {
	t.Parallel()
	bucket := enginetest.S3(t)
	m := newMailScene(t, false, false, 0)
	m.change(t, func(ctx context.Context, h *serve.Host) error { return m.useBucket(ctx, h, bucket.URL) })
	at := launch(t, m.life)
	bucket.Stop()
	m.putOff(t, at, "no S3 server")
	bucket.Start(t)
	a, err := m.one(t, at)
	if err != nil {
		t.Fatalf("with the S3 server: %v", err)
	}
	m.arrives(t, at, a)
	at.kill(t)
	if n := filesBelow(t, filepath.Join(bucket.Dir, m.org)); n != 2 { // the message and its attachment
		t.Errorf("%d objects in the bucket, want 2", n)
	}
}

// arrives waits until a message is in its inbox, and returns its JSON.
func (m *mailScene) arrives(t *testing.T, at *server, a attempt) string {
	t.Helper()
	var message string
	product.Await(t, time.Minute, func() error {
		err := m.db.QueryRowContext(t.Context(), `SELECT message FROM inbox_messages WHERE org_id = $1 AND message_id = $2`, m.org, a.id).Scan(&message)
		if err != nil {
			return fmt.Errorf("message %s: %w\n%s", a.id, err, at.logged())
		}
		return nil
	})
	return message
}

// TestScannerIsGone stops the spam scanner of a running server. Mail arrives all the same, with
// the verdict PROCESSING_FAILED.
func TestScannerIsGone(t *testing.T) {
	t.Parallel()
	scanner := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a scanner reads the message
		fmt.Fprint(w, `{"action":"no action"}`)
	}))
	defer scanner.Close()
	m := newMailScene(t, false, false, 0)
	m.Rspamd = scanner.URL
	at := launch(t, m.life)
	defer at.kill(t)
	for _, want := range []string{`"spam":"PASS"`, `"spam":"PROCESSING_FAILED"`, `"spam":"PROCESSING_FAILED"`} {
		a, err := m.one(t, at)
		must(t, err)
		if message := m.arrives(t, at, a); !strings.Contains(message, want) {
			t.Errorf("message %s has not %s", message, want)
		}
		scanner.Close()
	}
}

// TestWorkersAreWoken receives mail in a process with the role api, one message after the other.
// The worker is notified of each: without notices it would find each within a second of its own
// looks, which takes as many seconds as there are messages.
func TestWorkersAreWoken(t *testing.T) {
	t.Parallel()
	const messages = 12
	m := newMailScene(t, true, false, 0)
	m.Role = config.API
	receiver := launch(t, m.life)
	defer receiver.kill(t)
	m.Role, m.API = config.Worker, receiver.api
	worker := launch(t, m.life)
	defer worker.kill(t)
	a, err := m.one(t, receiver) // the worker is there
	must(t, err)
	m.arrives(t, worker, a)
	began := time.Now()
	for range messages {
		a, err := m.one(t, receiver)
		must(t, err)
		m.arrives(t, worker, a)
	}
	if took := time.Since(began); took > messages/2*time.Second {
		t.Errorf("%d messages, each after the one before, took %v", messages, took)
	}
}
