package objectstest

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

// Add stores a text by Store.Add and returns its key. It fails the test if it cannot.
func Add(t *testing.T, s objects.Store, key, content string) string {
	t.Helper()
	at, err := s.Add(t.Context(), key, []byte(content), "message/rfc822")
	if err != nil {
		t.Fatalf("add %s: %v", key, err)
	}
	return at
}

// added adds objects of different sizes at the same time.
func (s Subject) added(t *testing.T) {
	id := core.NewID()
	var mu sync.Mutex
	want := map[string][]byte{} // by the key that Add returned
	var done sync.WaitGroup
	for i, size := range []int{0, 1, 11_000, 4096, 256 << 10, 256<<10 + 1, 1 << 20, 3, 3, 3, 20_000} {
		done.Go(func() {
			key, content := objects.AttachmentKey(s.OrgID, id, i), bytes.Repeat([]byte{byte('a' + i)}, size)
			at, err := s.Store.Add(t.Context(), key, content, "text/plain")
			if err != nil || objects.CheckKey(at) != nil || path.Dir(at) != path.Dir(key) || objects.OrgOf(at) != s.OrgID {
				t.Errorf("%d bytes with the key %s have the key %s, %v", size, key, at, err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			want[at] = content
		})
	}
	done.Wait()
	for key, content := range want {
		if got, found := Content(t, s.Store, key); !found || got != string(content) {
			t.Errorf("%s has %d bytes (%t), want %d", key, len(got), found, len(content))
		}
		url, err := s.Store.Link(t.Context(), key, objects.Link{Until: s.Now.Add(time.Hour)})
		if err != nil {
			t.Fatal(err)
		}
		if answer := s.Get(t, url); answer.Status != http.StatusOK || answer.Content != string(content) {
			t.Errorf("the link to %s answers %d with %d bytes", key, answer.Status, len(answer.Content))
		}
	}
	if listed := s.listed(t, id); len(listed) != len(want) || slices.ContainsFunc(listed, func(key string) bool { _, found := want[key]; return !found }) {
		t.Errorf("listed %v, want %v", listed, slices.Sorted(maps.Keys(want)))
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := s.Store.Add(ended, objects.RawKey(s.OrgID, id), []byte("x"), ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled call: %v", err)
	}
	s.removed(t, id)
}

// removed deletes the objects of a message one after the other, each twice.
func (s Subject) removed(t *testing.T, id string) {
	t.Helper()
	for left := s.listed(t, id); len(left) > 0; left = left[1:] {
		for range 2 {
			if err := s.Store.Delete(t.Context(), left[0]); err != nil {
				t.Fatal(err)
			}
		}
		if _, found := Content(t, s.Store, left[0]); found {
			t.Errorf("%s was not deleted", left[0])
		}
		if now := s.listed(t, id); !slices.Equal(now, left[1:]) {
			t.Fatalf("listed %v, want %v", now, left[1:])
		}
	}
}

// listed returns the keys of the objects of a message.
func (s Subject) listed(t *testing.T, id string) []string {
	t.Helper()
	var keys []string
	now := time.Now() //nolint:forbidigo // stores date objects by the real time
	s.pages(t, now.Add(time.Hour), 3, func(key string) {
		if strings.HasPrefix(key, s.OrgID+"/"+id+"/") {
			keys = append(keys, key)
		}
	})
	return keys
}
