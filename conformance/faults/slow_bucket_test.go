package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// slowBucket passes requests to an S3 server after a time, or does not answer at all.
type slowBucket struct {
	*httptest.Server
	silent  atomic.Bool
	delay   time.Duration
	waiting atomic.Int64 // requests without an answer
}

func newSlowBucket(t *testing.T, of string, delay time.Duration) *slowBucket {
	t.Helper()
	target, err := url.Parse(of)
	must(t, err)
	// The host is part of what is signed.
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }}
	s := &slowBucket{delay: delay}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.waiting.Add(1)
		defer s.waiting.Add(-1)
		if s.silent.Load() {
			_, _ = io.Copy(io.Discard, r.Body) // the end of the connection is noticed after the body
			<-r.Context().Done()
			return
		}
		<-time.After(s.delay)
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections() // ends requests without an answer, for which Close would wait
		s.Close()
	})
	return s
}

// TestBucketIsSlow receives mail while the bucket of an organization answers after a second, and
// while it does not answer within the time limit of a call. Mail of another organization does not wait for it.
func TestBucketIsSlow(t *testing.T) {
	t.Parallel()
	const delay, timeout, senders = time.Second, 12 * time.Second, 3
	bucket := enginetest.S3(t)
	slow := newSlowBucket(t, bucket.URL, delay)
	m := newMailScene(t, false, false, 0)
	m.BucketTimeout = timeout
	var other string
	m.change(t, func(ctx context.Context, h *serve.Host) (err error) {
		if err = m.useBucket(ctx, h, slow.URL); err == nil {
			other, err = addNeighbour(ctx, h)
		}
		return err
	})
	at := launch(t, m.life)
	t.Cleanup(func() { at.kill(t) })
	began := time.Now()
	a, err := m.one(t, at)
	if err != nil || time.Since(began) < delay {
		t.Fatalf("with a slow bucket, after %v: %v", time.Since(began), err)
	}
	m.arrives(t, at, a)

	slow.silent.Store(true)
	results := make(chan error, senders)
	for i := range senders {
		go func() { results <- m.sendTo(at, fmt.Sprintf("silent%d", i), m.mailer.recipients[0][0]) }()
	}
	for began := time.Now(); slow.waiting.Load() < senders; <-time.After(10 * time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatalf("%d messages wait for the bucket, want %d", slow.waiting.Load(), senders)
		}
	}
	if err := m.sendTo(at, "neighbour", other); err != nil || len(results) > 0 {
		t.Errorf("mail of another organization: %v, after the end of %d calls of the bucket", err, len(results))
	}
	for range senders {
		if reply, ok := errors.AsType[*textproto.Error](<-results); !ok || reply.Code != 451 {
			t.Errorf("with a silent bucket: %v, want 451", reply)
		}
	}
	if n := one(t, m.db, `SELECT count(*) FROM received_mail WHERE org_id = $1`, m.org); n != 0 {
		t.Errorf("%d tasks of messages that were put off", n)
	}

	slow.silent.Store(false)
	if a, err = m.one(t, at); err != nil {
		t.Fatalf("after the silence: %v", err)
	}
	m.arrives(t, at, a)
	if n := filesBelow(t, filepath.Join(bucket.Dir, m.org)); n != 4 { // of two messages with an attachment
		t.Errorf("%d objects in the bucket, want 4", n)
	}
}

// useBucket lets new mail of the organization be stored in the bucket of the test's S3 server.
func (m *mailScene) useBucket(ctx context.Context, h *serve.Host, endpoint string) error {
	master, err := m.config().OpenMasterKey()
	if err != nil {
		return err
	}
	return h.DB().MailBuckets(master).SaveBucket(ctx, m.org, objects.StoredBucket{ID: core.NewID(), InUse: true, Bucket: objects.Bucket{
		Endpoint: endpoint, Region: enginetest.S3Region, Name: enginetest.S3Bucket, PathStyle: true, AccessKeyID: enginetest.S3AccessKeyID, Secret: enginetest.S3Secret,
	}})
}

// addNeighbour creates another organization and returns the address of an inbox of it.
func addNeighbour(ctx context.Context, h *serve.Host) (address string, err error) {
	db := h.DB()
	a := provision.Provisioner{Stores: db.Access(), Orgs: db.Orgs(), Users: db.Users(), Members: db.Members(), Tx: db, Clock: h.Clock()}
	org, err := a.CreateOrg(ctx, core.Org{Name: "Neighbour", Slug: "neighbour", Tier: "team"})
	if err != nil {
		return "", err
	}
	now := h.Clock()()
	box := inboxes.Inbox{ID: core.NewID(), OrgID: org.ID, LocalPart: "neighbour1", Visibility: inboxes.Shared, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}
	link := access.MintLink()
	box.First = inboxes.Token{ID: core.NewID(), InboxID: box.ID, Hash: link.Hash, Prefix: link.Secret[:8], CreatedAt: now}
	if _, err = db.Inboxes().InsertInbox(ctx, box); err != nil {
		return "", err
	}
	return box.LocalPart + "@inbox.localhost", nil
}

// sendTo sends a message on a connection of its own.
func (m *mailScene) sendTo(at *server, name, to string) error {
	c, err := dial(at.smtp)
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // the reply counts
	a := attempt{name: name, to: []string{to}}
	return a.send(c)
}

// filesBelow returns the number of files in a folder and those below.
func filesBelow(t *testing.T, folder string) int {
	t.Helper()
	n := 0
	must(t, filepath.WalkDir(folder, func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}
