package cache_test

import (
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/cache"
)

func TestCacheForgetsAtItsInstant(t *testing.T) {
	t.Parallel()
	cache := cache.New[string, int](10)
	start := time.Unix(1_000, 0)
	cache.Put("a", 1, start.Add(time.Second), cache.Epoch())
	for after, want := range map[time.Duration]bool{0: true, time.Second - 1: true, time.Second: false, time.Hour: false} {
		if _, ok := cache.Get("a", start.Add(after)); ok != want {
			t.Errorf("after %v: %v", after, ok)
		}
	}
}

func TestCacheStaysWithinItsBound(t *testing.T) {
	t.Parallel()
	const limit = 100
	cache := cache.New[int, int](limit)
	now := time.Unix(1_000, 0)
	for i := range 50 * limit {
		cache.Put(i, i, now.Add(time.Minute), cache.Epoch())
	}
	held := 0
	for i := range 50 * limit {
		if _, ok := cache.Get(i, now); ok {
			held++
		}
	}
	if held != limit {
		t.Errorf("holds %d entries, want %d", held, limit)
	}
}

func TestCacheDropsWhatEndsSoonest(t *testing.T) {
	t.Parallel()
	cache := cache.New[int, int](4)
	now := time.Unix(1_000, 0)
	for i := range 4 {
		cache.Put(i, i, now.Add(time.Duration(i+1)*time.Minute), cache.Epoch())
	}
	cache.Put(4, 4, now.Add(time.Hour), cache.Epoch())
	if _, ok := cache.Get(0, now); ok {
		t.Error("the entry that ends soonest is still there")
	}
	cache.Put(4, 5, now.Add(time.Hour), cache.Epoch())
	if v, _ := cache.Get(4, now); v != 5 {
		t.Errorf("replaced value is %d", v)
	}
	if _, ok := cache.Get(1, now); !ok {
		t.Error("replacing an entry dropped another")
	}
}

func TestCacheRefusesWhatWasReadBeforeARemoval(t *testing.T) {
	t.Parallel()
	cache := cache.New[string, string](10)
	now := time.Unix(1_000, 0)
	cache.Put("kept", "other", now.Add(time.Minute), cache.Epoch())
	before := cache.Epoch()
	cache.Remove(func(v string) bool { return v == "revoked" })
	cache.Put("late", "revoked", now.Add(time.Minute), before)
	if _, ok := cache.Get("late", now); ok {
		t.Error("a value read before the removal was stored after it")
	}
	if _, ok := cache.Get("kept", now); !ok {
		t.Error("the removal dropped what it was not asked to")
	}
}
