package serve

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/rest/ingest"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

const (
	posters  = 12
	untilEnd = 60 // number of accepted events after which the host is stopped
)

// eventPosters are concurrent clients. Each posts events of new messages until a request fails.
type eventPosters struct {
	address string
	client  *http.Client
	at      time.Time

	mu           sync.Mutex
	acknowledged []string
	enough       chan struct{} // closed after untilEnd acknowledgements
	running      sync.WaitGroup
}

func (s *eventPosters) start(ctx context.Context) {
	for i := range posters {
		s.running.Go(func() {
			for n := 0; s.post(ctx, fmt.Sprintf("poster-%d-%d", i, n)); n++ {
			}
		})
	}
}

// post posts a delivery event and reports whether the server accepted it with status 202.
func (s *eventPosters) post(ctx context.Context, id string) bool {
	at := s.at.UTC().Format(time.RFC3339)
	body := `{"eventType":"Delivery","mail":{"timestamp":"` + at + `","messageId":"` + id + `","source":"a@b.example","destination":["c@d.example"]},` +
		`"delivery":{"timestamp":"` + at + `","recipients":["c@d.example"]}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, strings.NewReader(body))
	if err != nil {
		return false
	}
	r.Header.Set("X-Api-Key", "key of the bus")
	answer, err := s.client.Do(r)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusAccepted {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.acknowledged = append(s.acknowledged, id); len(s.acknowledged) == untilEnd {
		close(s.enough)
	}
	return true
}

// TestStopKeepsAcknowledgedEvents stops a host while clients post events, with and without
// time for calls in flight. After a restart, each event answered with 202 must be stored
// and counted once. Any other event must be stored and counted, or neither stored nor
// counted.
func TestStopKeepsAcknowledgedEvents(t *testing.T) {
	t.Parallel()
	for _, postgres := range []bool{false, true} {
		for _, patient := range []bool{true, false} {
			t.Run(fmt.Sprintf("postgres %t, patient %t", postgres, patient), func(t *testing.T) {
				t.Parallel()
				stopUnderLoad(t, postgres, patient)
			})
		}
	}
}

func stopUnderLoad(t *testing.T, postgres, patient bool) {
	t.Helper()
	cfg := testConfig(t)
	if postgres {
		cfg.DatabaseURL, cfg.MaxConns = enginetest.PostgresURL(t), 6
	}
	h := running(t, cfg)
	key, now, org := sha256.Sum256([]byte("key of the bus")), h.Clock()(), core.Org{ID: core.NewID(), Slug: "busy", RetentionDays: 90}
	if err := h.DB().Orgs().InsertOrg(t.Context(), org); err != nil {
		t.Fatal(err)
	}
	if err := h.Connections().SaveConnection(t.Context(), sending.Connection{
		OrgID: org.ID, Provider: sending.Simulated, IngestPath: "busy-path", IngestKeyHash: key[:], CreatedAt: now, UpdatedAt: now,
	}); err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: posters}
	s := &eventPosters{
		address: ingest.Address(h.Addresses().API, "busy-path"), at: now.Add(-time.Minute), enough: make(chan struct{}),
		client: &http.Client{Transport: transport, Timeout: time.Minute},
	}
	s.start(t.Context())
	<-s.enough
	ending, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	if !patient {
		cancel()
	}
	began := time.Now()
	if err := h.Stop(ending); err != nil && patient {
		t.Errorf("Stop: %v", err)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("the end took %s", took)
	}
	s.running.Wait()
	transport.CloseIdleConnections()

	again := running(t, cfg)
	defer stop(t, again)
	s.check(t, again, org.ID)
}

// check checks that every accepted event is stored, and that the reports count exactly the
// stored events.
func (s *eventPosters) check(t *testing.T, h *Host, orgID string) {
	t.Helper()
	missing := 0
	for _, id := range s.acknowledged {
		if all, err := h.DB().Messages().MessageEvents(t.Context(), orgID, id); err != nil || len(all) != 1 {
			missing++
		}
	}
	filter := reports.Filter{Window: core.Window{From: s.at.AddDate(0, 0, -1), To: s.at.AddDate(0, 0, 1)}}
	figures, err := h.DB().Reports().GroupCounts(t.Context(), orgID, filter)
	if err != nil {
		t.Fatal(err)
	}
	scanned, err := h.DB().Reports().FromEvents(t.Context(), orgID, filter)
	if err != nil {
		t.Fatal(err)
	}
	if missing > 0 || delivered(figures) != delivered(scanned) || delivered(figures) < int64(len(s.acknowledged)) {
		t.Errorf("of %d acknowledged events %d are missing; %d are counted, %d stored",
			len(s.acknowledged), missing, delivered(figures), delivered(scanned))
	}
}

func delivered(groups []reports.GroupCounts) int64 {
	var total int64
	for _, g := range groups {
		total += g.Delivered
	}
	return total
}
