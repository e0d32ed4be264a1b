package storage_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// masterKey returns a master key of 32 bytes that all have the value of fill. Tests pass 1,
// and 2 where they need a different key.
func masterKey(t *testing.T, fill byte) signing.MasterKey {
	t.Helper()
	key, err := signing.NewMasterKey(bytes.Repeat([]byte{fill}, 32))
	must(t, err)
	return key
}

func newConnection(org string) sending.Connection {
	return sending.Connection{
		OrgID: org, Provider: sending.SES, AccountID: "111122223333", Region: "eu-central-1",
		Endpoint: "https://email.example", AccessKeyID: "AKIDEXAMPLE", Secret: "sécret of " + org,
		Identities: []string{"example.com", "me@exämple.org"}, Max24HourSend: 1 << 40, MaxSendRate: 7, MayReachPrivate: true,
		RoleARN: "arn:aws:iam::111122223333:role/mail", ExternalID: "external-" + org,
		TopicARN: "arn:aws:sns:eu-central-1:111122223333:events", TemplateVersion: 13,
		IngestPath: "path-" + org, IngestKeyHash: []byte{0, 1, 255}, CreatedAt: start, UpdatedAt: later(1),
	}
}

func TestConnections(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store := t.Context(), db.Connections(masterKey(t, 1))
		full, bare := newConnection(core.NewID()), sending.Connection{
			OrgID: core.NewID(), Provider: sending.Simulated, IngestPath: "bare", CreatedAt: start, UpdatedAt: start,
		}
		_, err := store.Connection(ctx, full.OrgID)
		wantCode(t, "no connection", err, core.CodeNotFound)
		must(t, store.SaveConnection(ctx, full))
		must(t, store.SaveConnection(ctx, bare))
		for _, want := range []sending.Connection{full, bare} {
			wantConnection(t, store, want)
		}

		changed := full
		changed.Identities, changed.Max24HourSend, changed.MaxSendRate, changed.MayReachPrivate = nil, 0, 1, false
		changed.Secret, changed.IngestPath, changed.IngestKeyHash = "another", "moved", nil
		changed.Provider, changed.UpdatedAt, changed.CreatedAt = sending.SMTP, later(2), later(2)
		must(t, store.SaveConnection(ctx, changed))
		changed.CreatedAt = full.CreatedAt
		wantConnection(t, store, changed)
		for _, path := range []string{full.IngestPath, "", "MOVED", "moved\x00", "\xff", strings.Repeat("x", 1<<16)} {
			_, err = store.ConnectionByIngestPath(ctx, path)
			wantCode(t, "no such path", err, core.CodeNotFound)
		}

		must(t, store.DeleteConnection(ctx, full.OrgID))
		wantCode(t, "deleting again", store.DeleteConnection(ctx, full.OrgID), core.CodeNotFound)
		wantConnection(t, store, bare)
	})
}

func wantConnection(t *testing.T, store sending.Connections, want sending.Connection) {
	t.Helper()
	byOrg, err := store.Connection(t.Context(), want.OrgID)
	must(t, err)
	byPath, err := store.ConnectionByIngestPath(t.Context(), want.IngestPath)
	must(t, err)
	for how, got := range map[string]sending.Connection{"organization": byOrg, "path": byPath} {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", how, diff)
		}
	}
}

// TestConnectionSecretsAreSealed checks that the secret of a sending account is stored
// encrypted. It must not decrypt with another master key or for another organization.
func TestConnectionSecretsAreSealed(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, store := t.Context(), db.Connections(masterKey(t, 1))
		ours, theirs := newConnection(core.NewID()), newConnection(core.NewID())
		must(t, store.SaveConnection(ctx, ours))
		must(t, store.SaveConnection(ctx, theirs))

		if c, err := db.Connections(masterKey(t, 2)).Connection(ctx, ours.OrgID); err == nil {
			t.Errorf("another master key opens %q", c.Secret)
		}
		recorder := &recordingSealer{Sealer: masterKey(t, 1)}
		must(t, db.Connections(recorder).SaveConnection(ctx, ours))
		if bytes.Contains(recorder.sealed, []byte(ours.Secret)) {
			t.Error("the sealed secret holds the secret")
		}
		if _, err := masterKey(t, 1).Open(recorder.purpose, theirs.OrgID, recorder.sealed); err == nil {
			t.Error("the secret of one organization opens in the row of another")
		}
	})
}

// recordingSealer records the purpose and the ciphertext of its last call of Seal.
type recordingSealer struct {
	sending.Sealer
	purpose string
	sealed  []byte
}

func (r *recordingSealer) Seal(purpose, id string, plain []byte) ([]byte, error) {
	var err error
	r.purpose = purpose
	r.sealed, err = r.Sealer.Seal(purpose, id, plain)
	return r.sealed, err
}

// TestChangesOfAConnectionWaitForEachOther checks that concurrent changes of one
// sending-account connection do not overwrite each other. It also covers concurrent first
// connects, which must all return the same ingest path.
func TestChangesOfAConnectionWaitForEachOther(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx := t.Context()
		org := core.Org{ID: core.NewID(), Slug: "acme", Name: "Acme"}
		must(t, db.Orgs().InsertOrg(ctx, org))
		connecting := sending.Connecting{
			Connections: db.Connections(masterKey(t, 1)), Transactor: db, Clock: core.SystemClock,
			Record: func(context.Context, string, string, map[string]any) error { return nil },
		}
		var all sync.WaitGroup
		paths := make([]string, 8)
		for i := range paths {
			all.Go(func() {
				c, err := connecting.Connect(ctx, sending.NewConnection{OrgID: org.ID, Provider: sending.Simulated})
				if err != nil {
					t.Error(err)
				}
				paths[i] = c.IngestPath
			})
		}
		all.Wait()
		if slices.Sort(paths); paths[0] == "" || paths[0] != paths[len(paths)-1] {
			t.Errorf("an address for events that was shown is gone: %v", paths)
		}
		var keyed []byte
		for round := range 8 {
			all.Go(func() {
				c, _, err := connecting.NewIngestKey(ctx, org.ID)
				if err != nil {
					t.Error(err)
				}
				keyed = c.IngestKeyHash
			})
			all.Go(func() {
				if _, err := connecting.SetTemplateVersion(ctx, org.ID, round+1); err != nil {
					t.Error(err)
				}
			})
			all.Wait()
			got, err := connecting.Connections.Connection(ctx, org.ID)
			if err != nil || got.TemplateVersion != round+1 || !bytes.Equal(got.IngestKeyHash, keyed) {
				t.Errorf("round %d: one of two changes is lost: %+v, %v", round, got, err)
			}
		}
	})
}
