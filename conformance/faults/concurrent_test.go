package faults

import (
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestManyCallsSendOnce makes many calls at the same time that send one broadcast. One call
// sends it, the others are refused, and every recipient gets one message.
func TestManyCallsSendOnce(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		calls := 100
		if enginetest.Full() {
			calls = 1000
		}
		s := newScene(t, postgres, false, 200)
		at := launch(t, s.life)
		id := s.draft(t, at)
		if got, want := s.sendAtOnce(t, at, id, calls), map[int]int{http.StatusAccepted: 1, http.StatusConflict: calls - 1}; !maps.Equal(got, want) {
			t.Errorf("answers by status: %v, want %v", got, want)
		}
		s.complete(t, at, id)
		s.check(t, id)
		if n := s.unknown(t, id); n > 0 {
			t.Errorf("%d outcomes are unknown", n)
		}
	})
}

// sendAtOnce makes calls that send a broadcast, all at the same time. It returns the number of
// answers by status.
func (s *scene) sendAtOnce(t *testing.T, at *server, id string, calls int) map[int]int {
	t.Helper()
	var mu sync.Mutex
	answers := map[int]int{}
	var running sync.WaitGroup
	begin := make(chan struct{})
	for range calls {
		running.Go(func() {
			<-begin
			got, err := s.post(t, at, "/v1/broadcasts/"+id+"/send", `{"acknowledge_no_topic":true}`)
			mu.Lock()
			defer mu.Unlock()
			answers[got.Status]++
			if err != nil || got.Status != http.StatusAccepted && got.Status != http.StatusConflict {
				t.Errorf("%v: %d %s", err, got.Status, got.Body)
			}
		})
	}
	close(begin)
	running.Wait()
	return answers
}

// post calls a route from any goroutine.
func (s *scene) post(t *testing.T, at *server, path, body string) (product.Answer, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, at.api+path, strings.NewReader(body))
	if err != nil {
		return product.Answer{}, err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", "application/json")
	return product.Do(s.http, r)
}
