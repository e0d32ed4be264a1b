// Package objectstest has the tests that every implementation of [objects.Store] must pass.
package objectstest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

// Subject is a store under test.
type Subject struct {
	Store objects.Store
	OrgID string
	// Now is the time of the store's clock.
	Now time.Time
	// Get downloads a link.
	Get func(t *testing.T, url string) Answer
}

// Answer is the answer to a request for a link.
type Answer struct {
	Status  int
	Header  http.Header
	Content string
}

// Run runs all tests of the contract.
func Run(t *testing.T, s Subject) {
	t.Helper()
	t.Run("put, open and delete", s.roundTrip)
	t.Run("replace", s.replace)
	t.Run("failures store nothing", s.failures)
	t.Run("add", s.added)
	t.Run("keys", s.keys)
	t.Run("list", s.list)
	t.Run("links", s.links)
	t.Run("concurrent", s.concurrent)
}

// Put stores a text and fails the test if it cannot.
func Put(t *testing.T, s objects.Store, key, content string) {
	t.Helper()
	if err := s.Put(t.Context(), key, strings.NewReader(content), int64(len(content)), "message/rfc822"); err != nil {
		t.Fatalf("put %s: %v", key, err)
	}
}

// Content returns the content of an object. The boolean is false if there is none.
func Content(t *testing.T, s objects.Store, key string) (string, bool) {
	t.Helper()
	body, err := s.Open(t.Context(), key)
	if core.IsNotFound(err) {
		return "", false
	}
	if err != nil {
		t.Fatalf("open %s: %v", key, err)
	}
	content, err := io.ReadAll(body)
	if err = errors.Join(err, body.Close()); err != nil {
		t.Fatalf("read %s: %v", key, err)
	}
	return string(content), true
}

func (s Subject) roundTrip(t *testing.T) {
	id := core.NewID()
	large := strings.Repeat("0123456789abcdef", 1<<16) // 1 MB
	contents := map[string]string{
		objects.RawKey(s.OrgID, id): "From: a\r\n\r\nb\r\n", objects.TextKey(s.OrgID, id): "", objects.HTMLKey(s.OrgID, id): large,
		objects.AttachmentKey(s.OrgID, id, 0): "\x00\xff", objects.AttachmentKey(s.OrgID, id, 10): "ten",
	}
	var keys []string
	for key, content := range contents {
		if _, there := Content(t, s.Store, key); there {
			t.Fatalf("%s exists before", key)
		}
		Put(t, s.Store, key, content)
		keys = append(keys, key)
	}
	for key, want := range contents {
		if got, there := Content(t, s.Store, key); !there || got != want {
			t.Errorf("%s has %d bytes (%t), want %d", key, len(got), there, len(want))
		}
	}
	kept := keys[0]
	if err := s.Store.Delete(t.Context(), keys[1:]...); err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if _, there := Content(t, s.Store, key); there != (key == kept) {
			t.Errorf("after Delete, %s exists: %t", key, there)
		}
	}
	for range 2 { // may be repeated, and some keys may be missing
		if err := s.Store.Delete(t.Context(), keys...); err != nil {
			t.Error(err)
		}
	}
	if err := s.Store.Delete(t.Context()); err != nil {
		t.Errorf("no keys: %v", err)
	}
	if _, there := Content(t, s.Store, kept); there {
		t.Error("the last object was not deleted")
	}
}

func (s Subject) replace(t *testing.T) {
	key := objects.RawKey(s.OrgID, core.NewID())
	Put(t, s.Store, key, "a long first version")
	Put(t, s.Store, key, "second")
	if got, _ := Content(t, s.Store, key); got != "second" {
		t.Errorf("content = %q", got)
	}
}

// failures checks that failed calls of Put make nothing visible, and keep an existing object.
func (s Subject) failures(t *testing.T) {
	broken := errors.New("the sender has disconnected")
	ended, end := context.WithCancel(t.Context())
	end()
	for name, tc := range map[string]struct {
		ctx  context.Context
		body io.Reader
		size int64
		want error
	}{
		"shorter":       {t.Context(), strings.NewReader("12345"), 6, objects.ErrSize},
		"longer":        {t.Context(), strings.NewReader("12345"), 4, objects.ErrSize},
		"empty, wanted": {t.Context(), strings.NewReader(""), 1, objects.ErrSize},
		"body fails":    {t.Context(), io.MultiReader(strings.NewReader("123"), failing{broken}), 5, broken},
		"canceled":      {ended, strings.NewReader("12345"), 5, context.Canceled},
	} {
		for _, existing := range []string{"", "existing"} {
			key := objects.RawKey(s.OrgID, core.NewID())
			if existing != "" {
				Put(t, s.Store, key, existing)
			}
			if err := s.Store.Put(tc.ctx, key, tc.body, tc.size, ""); !errors.Is(err, tc.want) || errors.Is(err, objects.ErrUnavailable) {
				t.Errorf("%s: %v, want %v and not ErrUnavailable", name, err, tc.want)
			}
			if got, _ := Content(t, s.Store, key); got != existing {
				t.Errorf("%s: content = %q, want %q", name, got, existing)
			}
			if seeker, ok := tc.body.(io.Seeker); ok {
				_, _ = seeker.Seek(0, io.SeekStart)
			} else {
				break
			}
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// keys checks that each method refuses keys that are not valid or of another organization.
func (s Subject) keys(t *testing.T) {
	other := objects.RawKey(core.NewID(), "m")
	good := objects.RawKey(s.OrgID, core.NewID())
	Put(t, s.Store, good, "kept")
	for _, key := range []string{"", "../x", s.OrgID + "/../../x", s.OrgID + "/m", other} {
		_, openErr := s.Store.Open(t.Context(), key)
		_, addErr := s.Store.Add(t.Context(), key, []byte("x"), "")
		_, linkErr := s.Store.Link(t.Context(), key, objects.Link{Until: s.Now.Add(time.Hour)})
		for call, err := range map[string]error{
			"Put": s.Store.Put(t.Context(), key, strings.NewReader("x"), 1, ""), "Add": addErr,
			"Open": openErr, "Link": linkErr, "Delete": s.Store.Delete(t.Context(), good, key),
		} {
			if err == nil || core.IsNotFound(err) || errors.Is(err, objects.ErrUnavailable) {
				t.Errorf("%s(%q): %v", call, key, err)
			}
		}
	}
	if _, there := Content(t, s.Store, good); !there {
		t.Error("a refused Delete deleted an object")
	}
}

// list lists objects in pages of different sizes, among those of other tests.
func (s Subject) list(t *testing.T) {
	const messages = 7
	want := map[string]bool{}
	for range messages {
		id := core.NewID()
		for _, key := range []string{objects.RawKey(s.OrgID, id), objects.AttachmentKey(s.OrgID, id, 0)} {
			Put(t, s.Store, key, "content")
			want[key] = true
		}
	}
	now := time.Now() //nolint:forbidigo // stores date objects by the real time
	for _, limit := range []int{1, 3, 1000} {
		found := map[string]int{}
		calls := s.pages(t, now.Add(time.Hour), limit, func(key string) { found[key]++ })
		for key := range want {
			if found[key] != 1 {
				t.Errorf("pages of %d have %s %d times", limit, key, found[key])
			}
		}
		if least := (len(found) + limit - 1) / limit; calls < least || calls > least+1 {
			t.Errorf("%d pages of %d for %d objects", calls, limit, len(found))
		}
		s.pages(t, now.Add(-time.Hour), limit, func(key string) { t.Errorf("%s was stored an hour ago", key) })
	}
	if _, _, err := s.Store.List(t.Context(), core.NewID(), now, "", 1); err == nil {
		t.Error("the store lists objects of another organization")
	}
}

// pages lists all objects, and returns the number of calls.
func (s Subject) pages(t *testing.T, before time.Time, limit int, found func(key string)) int {
	t.Helper()
	after := ""
	for calls := 1; ; calls++ {
		keys, next, err := s.Store.List(t.Context(), s.OrgID, before, after, limit)
		if err != nil || len(keys) > limit {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		for _, key := range keys {
			found(key)
		}
		if after = next; after == "" {
			return calls
		}
	}
}

func (s Subject) links(t *testing.T) {
	id := core.NewID()
	text, missing := objects.AttachmentKey(s.OrgID, id, 0), objects.AttachmentKey(s.OrgID, id, 1)
	Put(t, s.Store, text, "Grüße")
	link := func(key string, l objects.Link) string {
		t.Helper()
		url, err := s.Store.Link(t.Context(), key, l)
		if err != nil {
			t.Fatal(err)
		}
		return url
	}
	until := s.Now.Add(time.Hour)
	url := link(text, objects.Link{Until: until, Filename: "../grüße\r\n.txt", ContentType: "text/plain; charset=UTF-8"})
	answer := s.Get(t, url)
	if answer.Status != http.StatusOK || answer.Content != "Grüße" {
		t.Fatalf("download: %d %q", answer.Status, answer.Content)
	}
	if got := answer.Header.Get("Content-Type"); got != "text/plain; charset=utf-8" {
		t.Errorf("Content-Type = %q", got)
	}
	if got := answer.Header.Get("Content-Disposition"); got != `attachment; filename*=utf-8''gr%C3%BC%C3%9Fe.txt` {
		t.Errorf("Content-Disposition = %q", got)
	}
	if got := s.Get(t, link(text, objects.Link{Until: until, ContentType: "text/html\r\nSet-Cookie: a=b"})).Header; got.Get("Content-Type") != "application/octet-stream" || got.Get("Set-Cookie") != "" {
		t.Errorf("a hostile content type gives %q", got)
	}
	if status := s.Get(t, link(missing, objects.Link{Until: until})).Status; status != http.StatusNotFound {
		t.Errorf("a missing object: %d", status)
	}
	// Each change of a character after the host gives no content.
	for _, i := range []int{len(url) - 1, len(url) - 20, len(url) / 2} {
		changed := []byte(url)
		if changed[i]++; changed[i] == '%' || changed[i] == '&' {
			continue
		}
		if status := s.Get(t, string(changed)).Status; status == http.StatusOK {
			t.Errorf("a link with another character at %d answers %d", i, status)
		}
	}
	if _, err := s.Store.Link(t.Context(), text, objects.Link{Until: s.Now}); err == nil {
		t.Error("a link that has ended already is made")
	}
	if _, err := s.Store.Link(t.Context(), text, objects.Link{Until: s.Now.Add(365 * 24 * time.Hour)}); err != nil {
		t.Errorf("a link for longer than the maximum: %v", err)
	}
}

// concurrent stores different objects of one message, and versions of one object, at once.
func (s Subject) concurrent(t *testing.T) {
	const writers = 8
	id := core.NewID()
	shared := objects.RawKey(s.OrgID, id)
	var done sync.WaitGroup
	for i := range writers {
		done.Go(func() {
			content := bytes.Repeat(fmt.Appendf(nil, "%d", i), 20_000)
			for _, key := range []string{shared, objects.AttachmentKey(s.OrgID, id, i)} {
				if err := s.Store.Put(t.Context(), key, bytes.NewReader(content), int64(len(content)), ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done.Wait()
	whole := map[[sha256.Size]byte]bool{}
	for i := range writers {
		content, _ := Content(t, s.Store, objects.AttachmentKey(s.OrgID, id, i))
		whole[sha256.Sum256([]byte(content))] = true
	}
	if content, _ := Content(t, s.Store, shared); len(whole) != writers || !whole[sha256.Sum256([]byte(content))] {
		t.Errorf("%d different contents; the shared object is one of them: %t", len(whole), whole[sha256.Sum256([]byte(content))])
	}
}
