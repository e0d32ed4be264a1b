package pull_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/rest/pull"
	inboxstore "github.com/mailhelm/mailhelm/storage/inboxes"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// connected is an organization with a sending account.
type connected struct{}

func (connected) HasAccount(context.Context, core.Org) (bool, error) { return true, nil }

// BenchmarkWaitingPolls measures the memory of polls that wait, each on a connection of its
// own. It reports the bytes and goroutines of the server for each poll. The open connections
// need two file descriptors each.
func BenchmarkWaitingPolls(b *testing.B) {
	const polls = 9_500
	db := storagetest.SQLite(b)
	store, log := db.Inboxes(), slog.New(slog.DiscardHandler)
	waiting := inboxes.NewWaiting(inboxstore.NewNotices(db.DB), log)
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{7}, 32))
	if err != nil {
		b.Fatal(err)
	}
	all := inboxes.New(inboxes.Config{
		Store: store, Messages: store, Tokens: store, Purges: store, Accounts: connected{}, Sealer: master, Waiting: waiting,
		Domain: "inbox.test", BaseURL: "https://api.test", FetchURL: "", Clock: core.SystemClock, Log: log,
	})
	op := all.Operations()[0]
	in, err := op.Decode(core.REST, nil)
	if err != nil {
		b.Fatal(err)
	}
	c := &core.Call{Principal: core.Principal{Org: core.Org{ID: core.NewID()}}, Now: time.Now()}
	made, err := op.Do(b.Context(), c, in)
	if err != nil {
		b.Fatal(err)
	}
	minted := made.(inboxes.Minted)
	for i := range polls { // each poll has a link of its own, so that no link reaches its limit
		token := inboxes.Token{ID: core.NewID(), InboxID: minted.Inbox.ID, Hash: access.HashSecret(fmt.Sprint(i)), CreatedAt: c.Now}
		if err := store.AddToken(b.Context(), c.Principal.Org.ID, token); err != nil {
			b.Fatal(err)
		}
	}
	server := httptest.NewServer(pull.New(pull.Config{
		Inboxes: all, Objects: &source{}, ObjectPath: "/o/", Remote: func(r *http.Request) string {
			return r.Header.Get("X-Client") // so that no address reaches its limit
		},
		Clock: core.SystemClock, Log: log,
	}))
	defer server.Close()
	for b.Loop() {
		heapBefore, stackBefore := used()
		goroutines := runtime.NumGoroutine()
		connections := make([]net.Conn, polls)
		for i := range connections {
			if connections[i], err = net.Dial("tcp", strings.TrimPrefix(server.URL, "http://")); err != nil {
				b.Fatal(err)
			}
			if _, err := fmt.Fprintf(connections[i], "GET /p/%d/messages?wait=25 HTTP/1.1\r\nHost: x\r\nX-Client: 10.1.%d.%d:1\r\n\r\n", i, i>>8, i&255); err != nil {
				b.Fatal(err)
			}
			for i%50 == 49 && waiting.Polls() < i-100 {
				runtime.Gosched()
			}
		}
		for deadline := time.Now().Add(10 * time.Second); waiting.Polls() < polls && time.Now().Before(deadline); {
			runtime.Gosched()
		}
		n := waiting.Polls()
		b.ReportMetric(float64(n), "polls")
		heap, stack := used()
		b.ReportMetric(float64(heap-heapBefore)/float64(n), "heap-B/poll")
		b.ReportMetric(float64(stack-stackBefore)/float64(n), "stack-B/poll")
		b.ReportMetric(float64(runtime.NumGoroutine()-goroutines)/float64(n), "goroutines/poll")
		waiting.WakeAll()
		for _, connection := range connections {
			_ = connection.Close()
		}
	}
}

// used returns the memory that the Go runtime uses for the heap and for stacks.
func used() (heap, stack uint64) {
	for range 3 { // each collection halves the stacks that are mostly unused
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse, m.StackInuse
}
