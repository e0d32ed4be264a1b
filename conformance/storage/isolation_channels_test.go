package storage_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/storage"
)

func accountCopy(org string) channels.Seen {
	return channels.Seen{
		Sync:       channels.Sync{Account: "account of " + org, Region: "eu-central-1", At: start},
		Sets:       []sending.ConfigurationSet{{Name: "main", TrackingDomain: "click.same"}},
		Identities: []sending.Identity{{Identity: "same.example", DKIMTokens: []string{"token"}, ConfigurationSet: "main"}},
	}
}

// ownChannels gives the organization a channel in use, a tracking domain, a template and a
// pending request for production access.
func (o *ownedObjects) ownChannels(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, store := t.Context(), db.Channels()
	must(t, store.Mirror(ctx, o.org, accountCopy(o.org)))
	var err error
	o.channel, err = store.Channel(ctx, o.org, channels.ChannelKey{Slug: "main"})
	must(t, err)
	must(t, store.Adopt(ctx, o.org, o.channel.ID, start))
	o.tracking, err = store.TrackingDomain(ctx, o.org, "click.same")
	must(t, err)
	must(t, db.Templates().SaveTemplate(ctx, o.org, sending.Template{Name: "same", Subject: "s"}, start, start))
	o.managed = templates.ManagedTemplate{ID: core.NewID(), Slug: "own", DeployedName: "org--own", CreatedAt: start, Newest: templates.Version{Number: 1, Hash: "one", SavedAt: start}}
	must(t, db.ManagedTemplates().InsertManaged(ctx, o.org, o.managed))
	must(t, db.Deployments().SaveDeployed(ctx, o.org, templates.Undeployed{ID: o.managed.ID}, 1, start))
	o.request = sending.AccessRequest{ID: core.NewID(), Status: sending.AccessPending, CreatedAt: start, UpdatedAt: start}
	must(t, db.ProductionRequests().InsertRequest(ctx, o.org, o.request))
	must(t, db.SyncResults().SaveSyncResult(ctx, o.org, sending.SyncResult{Kind: sending.ChannelSync, EndedAt: start, Failure: sending.Refused}))
}

// channelState returns the owner's channels, identities, tracking domains, template and
// request for production access, and the record of the last run of the job that copies
// channels from the sending account.
func (o ownedObjects) channelState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	ctx, store := t.Context(), db.Channels()
	found, err := store.Channels(ctx, o.org, nil, 10)
	must(t, err)
	identities, err := store.Identities(ctx, o.org, nil, 10)
	must(t, err)
	tracking, err := store.TrackingDomains(ctx, o.org, nil, 10)
	must(t, err)
	sync, err := store.LastSync(ctx, o.org)
	must(t, err)
	template, content, err := db.Templates().Template(ctx, o.org, "same")
	must(t, err)
	managed, err := db.ManagedTemplates().ManagedBySlug(ctx, o.org, "own")
	must(t, err)
	own, _, err := db.Templates().Template(ctx, o.org, "own")
	must(t, err)
	due, err := db.Deployments().Undeployed(ctx, o.org, later(9), 10)
	must(t, err)
	request, err := db.ProductionRequests().LatestRequest(ctx, o.org)
	must(t, err)
	results, err := db.SyncResults().SyncResults(ctx, o.org)
	must(t, err)
	return []any{found, identities, tracking, sync, template, content, managed, own, due, request, results}
}

func channelCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"SyncResults": func(t *testing.T, db *storage.DB) (any, error) {
			return db.SyncResults().SyncResults(t.Context(), org)
		},
		"SaveSyncResult": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.SyncResults().SaveSyncResult(t.Context(), org, sending.SyncResult{Kind: sending.ChannelSync, EndedAt: later(1)})
		},
		"Channels": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Channels().Channels(t.Context(), org, nil, 10)
		},
		"Channel": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Channels().Channel(t.Context(), org, channels.ChannelKey{ID: o.channel.ID})
		},
		"Channel by slug": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Channels().Channel(t.Context(), org, channels.ChannelKey{Slug: "main"})
		},
		"Channel by name": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Channels().Channel(t.Context(), org, channels.ChannelKey{Name: "main"})
		},
		"channels.Store.Adopt": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Channels().Adopt(t.Context(), org, o.channel.ID, later(1))
		},
		"channels.Store.Adopt the same of a shared account": func(t *testing.T, db *storage.DB) (any, error) {
			must(t, db.Channels().Mirror(t.Context(), org, accountCopy(o.org)))
			own, err := db.Channels().Channel(t.Context(), org, channels.ChannelKey{Slug: "main"})
			must(t, err)
			wantCode(t, "adopting another's", db.Channels().Adopt(t.Context(), org, own.ID, later(1)), core.CodeConflict)
			return nil, nil
		},
		"Mirror": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Channels().Mirror(t.Context(), org, channels.Seen{Sync: accountCopy(o.org).Sync})
		},
		"LastSync": func(t *testing.T, db *storage.DB) (any, error) { return db.Channels().LastSync(t.Context(), org) },
		"Identities": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Channels().Identities(t.Context(), org, nil, 10)
		},
		"Identity": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Channels().Identity(t.Context(), org, "same.example")
		},
		"Tokens": func(t *testing.T, db *storage.DB) (any, error) {
			tokens, err := db.Channels().Tokens(t.Context(), org, []string{"same.example"})
			return len(tokens), err
		},
		"TrackingDomains": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Channels().TrackingDomains(t.Context(), org, nil, 10)
		},
		"TrackingDomain": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Channels().TrackingDomain(t.Context(), org, "click.same")
		},
		"UnverifiedDomains": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Channels().UnverifiedDomains(t.Context(), org)
		},
		"SetTrackingStatus": func(t *testing.T, db *storage.DB) (any, error) {
			changed := o.tracking
			changed.Status = channels.TrackingFailed
			return nil, db.Channels().SetTrackingStatus(t.Context(), org, changed)
		},
	}
}

func deployCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"Undeployed": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Deployments().Undeployed(t.Context(), org, later(9), 10)
		},
		"ClaimName": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Deployments().ClaimName(t.Context(), org, o.managed.ID)
		},
		"SaveDeployed": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Deployments().SaveDeployed(t.Context(), org, templates.Undeployed{ID: o.managed.ID}, 1, later(1))
		},
		"SaveDeployFailure": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Deployments().SaveDeployFailure(t.Context(), org, o.managed.ID, sending.Invalid, later(1))
		},
		"RefuseDeployments": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Deployments().RefuseDeployments(t.Context(), org, later(9), sending.Unsupported, later(1))
		},
		"DeployedNames": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Deployments().DeployedNames(t.Context(), org)
		},
		"ManagedContents": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Deployments().ManagedContents(t.Context(), org, "", 10)
		},
		"SaveImagesChanged": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Deployments().SaveImagesChanged(t.Context(), org, []string{o.managed.ID}, later(1))
		},
		"ForgetDeployed": func(t *testing.T, db *storage.DB) (any, error) {
			deployed, err := db.Deployments().DeployedNames(t.Context(), o.org)
			must(t, err)
			return nil, db.Deployments().ForgetDeployed(t.Context(), org, deployed)
		},
	}
}

func templateCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"Templates": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Templates().Templates(t.Context(), org, templates.Filter{Limit: 10})
		},
		"CountTemplates": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Templates().CountTemplates(t.Context(), org, templates.Filter{})
		},
		"Template": func(t *testing.T, db *storage.DB) (any, error) {
			found, _, err := db.Templates().Template(t.Context(), org, "same")
			return found, err
		},
		"SaveTemplate": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Templates().SaveTemplate(t.Context(), org, sending.Template{Name: "same", Subject: "stolen"}, later(1), later(1))
		},
		"AddVersion": func(t *testing.T, db *storage.DB) (any, error) {
			stolen := o.managed
			stolen.Newest = templates.Version{Number: 2, Hash: "two", SavedAt: later(1)}
			wantCode(t, "another's template", db.ManagedTemplates().AddVersion(t.Context(), org, "one", stolen), core.CodeConflict)
			return nil, nil
		},
		"ManagedBySlug": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ManagedTemplates().ManagedBySlug(t.Context(), org, "own")
		},
		"ManagedNames": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ManagedTemplates().ManagedNames(t.Context(), org)
		},
		"VersionBySlug": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ManagedTemplates().VersionBySlug(t.Context(), org, "own", 1)
		},
		"SetFaults": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ManagedTemplates().SetFaults(t.Context(), org, o.managed.ID, []string{"stolen"})
		},
		"SetTopic": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.ManagedTemplates().SetTopic(t.Context(), org, o.managed.ID, "stolen")
		},
		"templates.ManagedStore.Versions": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ManagedTemplates().Versions(t.Context(), org, o.managed.ID, 10, 10)
		},
		"DropTemplates": func(t *testing.T, db *storage.DB) (any, error) {
			reads, err := db.Templates().ReadTemplates(t.Context(), o.org)
			must(t, err)
			if len(reads) == 0 {
				t.Error("the owner has no template")
			}
			return nil, db.Templates().DropTemplates(t.Context(), org, reads)
		},
		"ReadTemplates": func(t *testing.T, db *storage.DB) (any, error) {
			reads, err := db.Templates().ReadTemplates(t.Context(), org)
			return slices.Collect(maps.Keys(reads)), err
		},
		"LatestRequest": func(t *testing.T, db *storage.DB) (any, error) {
			return db.ProductionRequests().LatestRequest(t.Context(), org)
		},
		"DecideRequest": func(t *testing.T, db *storage.DB) (any, error) {
			denied := o.request
			denied.Status = sending.AccessDenied
			return db.ProductionRequests().DecideRequest(t.Context(), org, denied)
		},
	}
}
