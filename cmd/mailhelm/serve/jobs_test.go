package serve

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/provision"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/replay"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// lines is a writer for log lines. It sends each line to the channel, and drops the line if
// the channel is full.
type lines chan []byte

func (l lines) Write(line []byte) (int, error) {
	select {
	case l <- bytes.Clone(line):
	default: // no receiver is waiting
	}
	return len(line), nil
}

func TestContactListIsSyncedAtStart(t *testing.T) {
	t.Parallel()
	cfg := testConfig(t)
	h := running(t, cfg)
	org, err := provision.Provisioner{Stores: h.DB().Access(), Orgs: h.DB().Orgs(), Users: h.DB().Users(), Members: h.DB().Members(), Tx: h.DB(), Clock: core.SystemClock}.CreateOrg(t.Context(), core.Org{Name: "Acme", Slug: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	err = h.Account().Seed(t.Context(), org.ID, simulator.Setup{
		List:     &sending.ContactList{Name: "all", Topics: []sending.Topic{{Name: "news", DisplayName: "News", Default: sending.OptIn}}},
		Contacts: []sending.Contact{{Email: "ada@example.com"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	written := core.SystemClock().Add(-time.Hour)
	err = h.DB().Contacts().InsertContact(t.Context(), org.ID, contacts.Contact{
		ID: core.NewID(), Email: "lost@example.com", Status: contacts.Active, CreatedAt: written, UpdatedAt: written,
	})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, h)

	log := make(lines, 1000)
	cfg.Log = slog.New(slog.NewJSONHandler(log, nil))
	h = running(t, cfg)
	defer stop(t, h)
	for late := time.After(30 * time.Second); ; {
		select {
		case line := <-log:
			if !bytes.Contains(line, []byte("contact list synced")) {
				continue
			}
			for _, member := range []string{org.ID, `"topics":1`, `"created":1`, `"updated":0`, `"unchanged":0`, `"pushed":1`, `"refused":0`, `"left":0`} {
				if !bytes.Contains(line, []byte(member)) {
					t.Errorf("the sync does not tell %s: %s", member, line)
				}
			}
		case <-late:
			t.Fatal("the job did not run")
		}
		break
	}
	if _, err := h.DB().Contacts().ContactByEmail(t.Context(), org.ID, "ada@example.com"); err != nil {
		t.Errorf("the account's contact is not in the mirror: %v", err)
	}
}

func TestPurgeForgetsWhatExpired(t *testing.T) {
	t.Parallel()
	h := running(t, testConfig(t))
	defer stop(t, h)
	store, now := h.DB().Replay(), core.SystemClock()
	key := replay.Key{OrgID: core.NewID(), Space: "rest:x", Key: "k"}
	if _, won, err := store.Reserve(t.Context(), key, replay.Claim{Digest: "digest"}, now.Add(-2*replay.Lease)); err != nil || !won {
		t.Fatal(won, err)
	}
	worker := replay.PurgeWorker(store, core.SystemClock, slog.New(slog.DiscardHandler))
	if err := worker.Work(t.Context(), replay.PurgeArgs{}); err != nil {
		t.Fatal(err)
	}
	if purged, err := store.Purge(t.Context(), now); err != nil || purged != 0 {
		t.Errorf("%d expired records were left (%v)", purged, err)
	}
}
