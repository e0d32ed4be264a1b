package channels_test

import (
	"context"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
)

// interruptedAccount is a sending account that calls the function in its field read once:
// after a sync's last request to the account, before the sync gets the result.
type interruptedAccount struct {
	account
	read func()
}

func (a *interruptedAccount) Identities(ctx context.Context, orgID string) ([]sending.Identity, error) {
	identities, err := a.account.Identities(ctx, orgID)
	if read := a.read; read != nil {
		a.read = nil
		read()
	}
	return identities, err
}

// TestAnOlderSyncDoesNotUndoALaterOne runs a whole sync while another one has read the
// account and not yet stored the result. The stored channels, identities and tracking
// domains must be those that the account had last, whether the organization was synced
// before or not. The clock stands still, because syncs must not depend on it.
func TestAnOlderSyncDoesNotUndoALaterOne(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]int{"first syncs": 0, "synced before": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, func(t *testing.T, w *world) {
				w.setAccount(w.org, accountContent{sets: []sending.ConfigurationSet{{Name: "old"}}})
				for range before {
					w.sync(t, w.org)
				}
				w.Account = &interruptedAccount{account: w.account, read: func() {
					w.setAccount(w.org, accountContent{
						sets:       []sending.ConfigurationSet{{Name: "new", TrackingDomain: "click.example.com"}},
						identities: []sending.Identity{{Identity: "example.com"}},
					})
					w.sync(t, w.org)
				}}
				w.sync(t, w.org)
				if got := w.channel(t, "new").Status; got != channels.Discovered {
					t.Errorf("the new channel is %s", got)
				}
				stored, err := w.Store.Channels(t.Context(), w.org, nil, 10)
				if err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(stored, func(c channels.Channel) bool { return c.Name == "old" && c.Status != channels.Detached }) {
					t.Errorf("the old channel is not detached: %+v", stored)
				}
				if _, err := w.Store.Identity(t.Context(), w.org, "example.com"); err != nil {
					t.Errorf("identity: %v", err)
				}
				if _, err := w.Store.TrackingDomain(t.Context(), w.org, "click.example.com"); err != nil {
					t.Errorf("tracking domain: %v", err)
				}
			})
		})
	}
}

// TestASyncThatOthersOvertakeEnds checks that a sync fails if other syncs end during each of
// its readings of the account, and that the next sync succeeds.
func TestASyncThatOthersOvertakeEnds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.setAccount(w.org, accountContent{sets: []sending.ConfigurationSet{{Name: "main"}}})
		interrupted, readings := &interruptedAccount{account: w.account}, 0
		var overtake func()
		overtake = func() {
			readings++
			w.sync(t, w.org)
			interrupted.read = overtake
		}
		interrupted.read, w.Account = overtake, interrupted
		if err := w.Sync(t.Context(), w.org); code(err) != core.CodeConflict || readings != 3 {
			t.Errorf("%v after %d readings", err, readings)
		}
		interrupted.read = nil
		w.sync(t, w.org)
	})
}
