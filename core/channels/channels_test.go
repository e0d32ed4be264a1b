package channels_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
)

func TestAChannelFollowsTheAccountAndIsNeverActiveByItself(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		there := accountContent{
			sets:       []sending.ConfigurationSet{{Name: "Marketing", TrackingDomain: "Click.Example.com", SuppressionPolicy: []string{"BOUNCE", "COMPLAINT"}}},
			identities: []sending.Identity{{Identity: "example.com", ConfigurationSet: "Marketing"}, {Identity: "news@example.org"}},
		}
		gone := accountContent{}
		status := func(want channels.Status) {
			t.Helper()
			w.sync(t, w.org)
			if got := w.channel(t, "marketing").Status; got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		w.setAccount(w.org, there)
		status(channels.Discovered)
		first := w.channel(t, "marketing")
		domain := "click.example.com"
		want := channels.Channel{
			ID: first.ID, Name: "Marketing", Slug: "marketing", Status: channels.Discovered, TrackingDomain: &domain,
			SuppressionPolicy: []string{"BOUNCE", "COMPLAINT"}, Identities: []string{"example.com"}, CreatedAt: w.now,
		}
		if diff := cmp.Diff(want, first); diff != "" {
			t.Error(diff)
		}
		w.now = w.now.Add(time.Hour)
		w.setAccount(w.org, gone)
		status(channels.Detached)
		if _, err := w.Adopt(t.Context(), w.org, "marketing"); code(err) != core.CodeConflict {
			t.Errorf("a detached channel is adopted: %v", err)
		}
		w.setAccount(w.org, there)
		status(channels.Discovered)
		adopted, err := w.Adopt(t.Context(), w.org, "marketing")
		if err != nil || adopted.Status != channels.Active {
			t.Fatalf("%+v, %v", adopted, err)
		}
		if _, err := w.Adopt(t.Context(), w.org, "marketing"); err != nil {
			t.Errorf("adopting again: %v", err)
		}
		w.setAccount(w.org, gone)
		status(channels.Detached)
		w.setAccount(w.org, there)
		status(channels.Active)
		if again := w.channel(t, "marketing"); again.ID != first.ID || !again.CreatedAt.Equal(first.CreatedAt) {
			t.Errorf("another channel came back: %+v", again)
		}
		// The organization now uses another account. The channel of the same name there is
		// not active, because the organization has not adopted it in that account.
		w.account[w.org].overview.AccountID = "999999999999"
		status(channels.Discovered)
	})
}

func TestASharedAccountsThingsAreOneOrganizations(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		other := core.NewID()
		sets := []sending.ConfigurationSet{{Name: "main"}, {Name: "second"}, {Name: "free"}}
		w.setAccount(w.org, accountContent{sets: sets, identities: []sending.Identity{{Identity: "example.com", ConfigurationSet: "main"}}})
		w.setAccount(other, accountContent{sets: sets, identities: []sending.Identity{{Identity: "Example.com", ConfigurationSet: "second"}}})
		w.sync(t, w.org)
		w.sync(t, other)
		if _, err := w.Adopt(t.Context(), w.org, "main"); err != nil {
			t.Fatal(err)
		}
		for _, taken := range []string{"main", "second"} { // "second" has the same identity
			_, err := w.Adopt(t.Context(), other, taken)
			if code(err) != core.CodeConflict || strings.Contains(err.Error(), w.org) {
				t.Errorf("%s: %v", taken, err)
			}
			channel, err := w.Store.Channel(t.Context(), other, channels.ChannelKey{Slug: taken})
			if err != nil || channel.Status != channels.Discovered {
				t.Errorf("%s: %+v, %v", taken, channel, err)
			}
		}
		if _, err := w.Adopt(t.Context(), other, "free"); err != nil {
			t.Error(err)
		}
		// The channel stays reserved for the first organization after the account has lost
		// it.
		w.setAccount(w.org, accountContent{})
		w.sync(t, w.org)
		if _, err := w.Adopt(t.Context(), other, "main"); code(err) != core.CodeConflict {
			t.Errorf("%v", err)
		}
		// If the provider reports no account id, two organizations never count as sharing an
		// account.
		for _, org := range []string{w.org, other} {
			w.setAccount(org, accountContent{sets: sets})
			w.account[org].overview.AccountID = ""
			w.sync(t, org)
			if _, err := w.Adopt(t.Context(), org, "main"); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestAdoptingAtOnceHasOneWinner makes several organizations that share an account take the
// same channel, or the same identity, into use at once. Exactly one must succeed; the
// others must get a conflict.
func TestAdoptingAtOnceHasOneWinner(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		const rivals = 6
		orgs := make([]string, rivals)
		for i := range orgs {
			orgs[i] = core.NewID()
			// Each organization calls Adopt for its own channel "own-N". All of these channels
			// have the same identity.
			own := fmt.Sprint("own-", i)
			w.setAccount(orgs[i], accountContent{
				sets: []sending.ConfigurationSet{{Name: "main"}, {Name: own}}, identities: []sending.Identity{{Identity: "example.com", ConfigurationSet: own}},
			})
			w.sync(t, orgs[i])
		}
		for _, slug := range []string{"main", "own"} {
			var won, refused atomic.Int64
			var group sync.WaitGroup
			start := make(chan struct{})
			for i, org := range orgs {
				group.Go(func() {
					<-start
					name := slug
					if slug == "own" {
						name = fmt.Sprint("own-", i)
					}
					switch channel, err := w.Adopt(context.Background(), org, name); {
					case err == nil && channel.Status == channels.Active:
						won.Add(1)
					case code(err) == core.CodeConflict:
						refused.Add(1)
					default:
						t.Errorf("%s: %+v, %v", name, channel, err)
					}
				})
			}
			close(start)
			group.Wait()
			if won.Load() != 1 || refused.Load() != rivals-1 {
				t.Errorf("%s: %d have it, %d were refused", slug, won.Load(), refused.Load())
			}
		}
	})
}

// likeAnID is the name of a configuration set that has the form of an id. Its slug is the
// same text.
const likeAnID = "0b8f9f0e-6f0c-4b2e-9a55-1f7a2a4b6c01"

func TestChannelsAreFoundByIDSlugAndName(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.setAccount(w.org, accountContent{sets: []sending.ConfigurationSet{{Name: "Big Sale!"}, {Name: likeAnID}}})
		w.sync(t, w.org)
		if name, err := w.ChannelNameOf(t.Context(), w.org, likeAnID); name != likeAnID || err != nil {
			t.Errorf("a slug like an id: %q, %v", name, err)
		}
		id := w.channel(t, "big-sale").ID
		for what, find := range map[string]func(org string) (string, error){
			"by id":     func(org string) (string, error) { return w.ChannelName(t.Context(), org, id) },
			"by slug":   func(org string) (string, error) { return w.ChannelNameOf(t.Context(), org, "big-sale") },
			"by either": func(org string) (string, error) { return w.ChannelNameOf(t.Context(), org, strings.ToUpper(id)) },
		} {
			if name, err := find(w.org); name != "Big Sale!" || err != nil {
				t.Errorf("%s: %q, %v", what, name, err)
			}
			if _, err := find(core.NewID()); code(err) != core.CodeNotFound {
				t.Errorf("%s of another organization: %v", what, err)
			}
		}
		if slug, err := w.ChannelSlug(t.Context(), w.org, "Big Sale!"); slug != "big-sale" || err != nil {
			t.Errorf("%q, %v", slug, err)
		}
	})
}

func TestSlugs(t *testing.T) {
	t.Parallel()
	known := map[string]string{"main": "main"}
	got := channels.Slugs(known, []string{"main", "Main", "MAIN", "a/b c", "ä", "日本", "x" + strings.Repeat("y", 100), "..", "a_b"})
	want := map[string]string{
		"Main": "main-3", "MAIN": "main-2", "a/b c": "a-b-c", "ä": "channel-2", "日本": "channel-3", "..": "channel",
		"x" + strings.Repeat("y", 100): "x" + strings.Repeat("y", 63), "a_b": "a_b",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNamesThatNoDatabaseTakesAreLeftOut(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		bad := []string{"", "a\x00b", "\xff", strings.Repeat("x", 400)}
		s := accountContent{sets: []sending.ConfigurationSet{{Name: "main", TrackingDomain: "a\x00"}}, identities: []sending.Identity{{Identity: "example.com"}}}
		for _, name := range bad {
			s.sets = append(s.sets, sending.ConfigurationSet{Name: name})
			s.identities = append(s.identities, sending.Identity{Identity: name})
		}
		w.setAccount(w.org, s)
		w.sync(t, w.org)
		if got := read[core.Page[channels.Channel]](t, w, "channels_list", "").Items; len(got) != 1 || got[0].TrackingDomain != nil {
			t.Errorf("%+v", got)
		}
		if got := read[core.Page[channels.Identity]](t, w, "identities_list", "").Items; len(got) != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// lastResult is a sending.SyncRecorder that keeps the last result.
type lastResult struct{ last *sending.SyncResult }

func (r lastResult) SaveSyncResult(_ context.Context, _ string, result sending.SyncResult) error {
	*r.last = result
	return nil
}

func TestAnAccountThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		var synced []string
		w.OnSync = func(orgID string) { synced = append(synced, orgID) }
		if err := w.Sync(t.Context(), w.org); err != nil || len(synced) > 0 {
			t.Errorf("without an account: %v, synced %v", err, synced)
		}
		w.setAccount(w.org, accountContent{sets: []sending.ConfigurationSet{{Name: "main"}}})
		w.sync(t, w.org)
		w.account[w.org].failure = &sending.Failure{Kind: sending.Refused, Err: errors.New("down")}
		w.account[w.org].sets = nil
		var ended sending.SyncResult
		w.Results = lastResult{&ended}
		if err := w.SyncWorker().Work(t.Context(), channels.SyncArgs{}); err == nil {
			t.Error("the job does not run again")
		}
		if ended.Kind != sending.ChannelSync || ended.Failure != sending.Refused {
			t.Errorf("the stored result is %v", ended)
		}
		if len(synced) != 1 || synced[0] != w.org {
			t.Errorf("OnSync was called for %v, want once for %s", synced, w.org)
		}
		if got := w.channel(t, "main").Status; got != channels.Discovered {
			t.Errorf("%s", got)
		}
	})
}

func TestPagesAreNewestFirstAndWhole(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		var s accountContent
		var want []string
		for i := range 5 {
			name := fmt.Sprintf("c%d", i)
			s.sets = append(s.sets, sending.ConfigurationSet{Name: name, TrackingDomain: name + ".example.com"})
			s.identities = append(s.identities, sending.Identity{Identity: name + ".example.org"})
			w.setAccount(w.org, s)
			w.sync(t, w.org)
			w.now = w.now.Add(time.Minute)
			want = slices.Insert(want, 0, name)
		}
		var got []string
		for cursor := ""; ; {
			page := read[core.Page[channels.Channel]](t, w, "channels_list", `{"limit":2,"cursor":"`+cursor+`"}`)
			for _, c := range page.Items {
				got = append(got, c.Name)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		cursor := read[core.Page[channels.Channel]](t, w, "channels_list", `{"limit":2}`).Next
		for _, list := range []string{"identities_list", "tracking_domains_list"} {
			if _, err := w.call(t, w.org, list, `{"cursor":"`+cursor+`"}`); code(err) != core.CodeValidationFailed {
				t.Errorf("%s takes a cursor of the channels: %v", list, err)
			}
		}
		if got := read[core.Page[channels.Identity]](t, w, "identities_list", `{"limit":1}`).Items[0].Identity; got != "c4.example.org" {
			t.Errorf("%s", got)
		}
		if got := read[core.Page[channels.TrackingDomain]](t, w, "tracking_domains_list", `{"limit":1}`).Items[0].Domain; got != "c4.example.com" {
			t.Errorf("%s", got)
		}
	})
}
