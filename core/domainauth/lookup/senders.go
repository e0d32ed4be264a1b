package lookup

import (
	"context"
	"hash/fnv"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/sources"
)

const (
	// expandEvery is how long the networks of a known sender are used, and expandSpread how
	// much longer at most, so that the records are not all asked for at once.
	expandEvery  = 20 * time.Hour
	expandSpread = 8 * time.Hour
	// expandAgain is the time after a failure at which a record is asked for again.
	expandAgain   = 30 * time.Minute
	expandAtOnce  = 4
	expandTimeout = 20 * time.Second
	// firstTimeout limits how long a caller waits for the first networks.
	firstTimeout = 45 * time.Second
)

// Senders has the networks of known senders: the expanded SPF records of
// sources.SenderRecords. It is safe for concurrent use.
type Senders struct {
	resolver sources.Resolver
	clock    core.Clock

	// refreshing allows one refresh at a time.
	refreshing sync.Mutex

	mu       sync.Mutex
	loaded   bool
	due      map[string]time.Time
	known    map[string]sources.Expansion
	networks *sources.SenderNetworks
}

// NewSenders returns Senders that know no networks yet.
func NewSenders(r sources.Resolver, clock core.Clock) *Senders {
	return &Senders{resolver: r, clock: clock, due: map[string]time.Time{}, known: map[string]sources.Expansion{}, networks: sources.NewSenderNetworks(nil)}
}

// Networks returns the networks as they are known. The first call asks for them, and waits for
// at most 45 seconds; another first call at the same time waits with it.
func (s *Senders) Networks(ctx context.Context) *sources.SenderNetworks {
	if networks, loaded := s.current(); loaded {
		return networks
	}
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	networks, loaded := s.current()
	if loaded {
		return networks
	}
	first, cancel := context.WithTimeout(ctx, firstTimeout)
	defer cancel()
	s.refresh(first)
	// After the end of the caller's own context, the next call asks for what is missing.
	if ctx.Err() == nil {
		s.mu.Lock()
		s.loaded = true
		s.mu.Unlock()
	}
	networks, _ = s.current()
	return networks
}

func (s *Senders) current() (*sources.SenderNetworks, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.networks, s.loaded
}

// Refresh asks for the records that are due: about once a day, or half an hour after a failure.
// A record about which DNS does not answer keeps its networks. Before the first call of Networks
// it asks for none.
func (s *Senders) Refresh(ctx context.Context) {
	s.refreshing.Lock()
	defer s.refreshing.Unlock()
	if _, loaded := s.current(); loaded {
		s.refresh(ctx)
	}
}

// Follow calls Refresh for each tick until ctx ends. Ticks come every few minutes.
func (s *Senders) Follow(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			s.Refresh(ctx)
		}
	}
}

// refresh asks for the records that are due, and puts their networks into use.
func (s *Senders) refresh(ctx context.Context) {
	now := s.clock()
	next := make(chan string)
	var running sync.WaitGroup
	for range expandAtOnce {
		running.Go(func() {
			for name := range next {
				s.expand(ctx, name, now)
			}
		})
	}
	asked := false
	for _, name := range sources.SenderRecords() {
		s.mu.Lock()
		due := !s.due[name].After(now)
		s.mu.Unlock()
		if due && ctx.Err() == nil {
			asked = true
			next <- name
		}
	}
	close(next)
	running.Wait()
	if !asked {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []sources.Expansion
	for _, e := range s.known {
		all = append(all, e)
	}
	s.networks = sources.NewSenderNetworks(all)
}

// expand asks for one record.
func (s *Senders) expand(ctx context.Context, name string, now time.Time) {
	bounded, cancel := context.WithTimeout(ctx, expandTimeout)
	defer cancel()
	e, err := sources.Expand(bounded, s.resolver, name)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.known[name], s.due[name] = e, now.Add(expandEvery+spread(name, expandSpread))
	case ctx.Err() == nil:
		s.due[name] = now.Add(expandAgain)
	}
}

// spread returns a duration of whole seconds, below most, that is always the same for a name.
func spread(name string, most time.Duration) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name)) // never fails
	return time.Duration(h.Sum32()%uint32(most/time.Second)) * time.Second
}
