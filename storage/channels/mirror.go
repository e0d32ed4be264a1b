package channels

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// slugRow has the name and slug of a channel. The slug never changes while the channel
// keeps its name.
type slugRow struct {
	Name string `db:"name"`
	Slug string `db:"slug"`
}

// syncRow is the last complete sync of an organization with its sending account.
type syncRow struct {
	Account  string      `db:"account"`
	Region   string      `db:"region"`
	SyncedAt engine.Time `db:"synced_at"`
}

var (
	// channelSlugs selects the slugs of all channels. It includes channels that the account
	// no longer has, because their slugs stay reserved.
	channelSlugs = engine.Register("channel slugs", `SELECT name, slug FROM channels WHERE org_id = $1`)
	// saveChannels inserts new channels, and updates those that differ from the sending
	// account. It does not update equal rows, so updated_at is the time of a real change. An
	// existing channel keeps its slug.
	saveChannels = engine.Register("save channels", `
		INSERT INTO channels (org_id, id, name, slug, account, present, tracking_domain, suppression_policy, created_at, updated_at)
		SELECT $1, j.value ->> 'id', j.value ->> 'name', j.value ->> 'slug', $2, TRUE,
			j.value ->> 'tracking_domain', j.value ->> 'suppression_policy', CAST($3 AS bigint), CAST($3 AS bigint)
		FROM json_each(CAST($4 AS text)) AS j WHERE TRUE
		ON CONFLICT (org_id, name) DO UPDATE SET account = excluded.account, present = TRUE,
			tracking_domain = excluded.tracking_domain, suppression_policy = excluded.suppression_policy, updated_at = excluded.updated_at
		WHERE NOT channels.present OR channels.account <> excluded.account
		OR channels.tracking_domain <> excluded.tracking_domain OR channels.suppression_policy <> excluded.suppression_policy`)
	// detachChannels sets present to false for channels that the account no longer has. It
	// keeps their rows, so that a channel that reappears has its earlier state.
	detachChannels = engine.Register("detach channels", `
		UPDATE channels SET present = FALSE, updated_at = $1
		WHERE org_id = $2 AND present AND name NOT IN (SELECT j.value ->> 'name' FROM json_each(CAST($3 AS text)) AS j)`)

	// saveIdentities inserts or updates identities. An existing identity keeps its id and
	// time of creation.
	saveIdentities = engine.Register("save identities", `
		INSERT INTO identities (org_id, id, identity, identity_key, verification, channel, dkim_tokens, created_at)
		SELECT $1, j.value ->> 'id', j.value ->> 'identity', j.value ->> 'key', j.value ->> 'verification',
			j.value ->> 'channel', j.value ->> 'dkim_tokens', CAST($2 AS bigint)
		FROM json_each(CAST($3 AS text)) AS j WHERE TRUE
		ON CONFLICT (org_id, identity_key) DO UPDATE SET identity = excluded.identity, verification = excluded.verification,
			channel = excluded.channel, dkim_tokens = excluded.dkim_tokens`)
	// dropIdentities deletes identities that the account no longer has. It runs before
	// saveIdentities, with the same JSON parameter.
	dropIdentities = engine.Register("drop identities", `
		DELETE FROM identities
		WHERE org_id = $1 AND identity_key NOT IN (SELECT j.value ->> 'key' FROM json_each(CAST($2 AS text)) AS j)`)

	// saveTracking inserts tracking domains. If the region of a stored domain has changed,
	// the domain needs another DNS record, so its verification starts again.
	saveTracking = engine.Register("save tracking domains", `
		INSERT INTO tracking_domains (org_id, id, domain, region, status, created_at)
		SELECT $1, j.value ->> 'id', j.value ->> 'domain', $2, 'pending', CAST($3 AS bigint)
		FROM json_each(CAST($4 AS text)) AS j WHERE TRUE
		ON CONFLICT (org_id, domain) DO UPDATE SET region = excluded.region, status = 'pending',
			created_at = excluded.created_at, checked_at = NULL, verified_at = NULL
		WHERE tracking_domains.region <> excluded.region`)
	// dropTracking deletes tracking domains that no configuration set uses any more.
	dropTracking = engine.Register("drop tracking domains", `
		DELETE FROM tracking_domains
		WHERE org_id = $1 AND domain NOT IN (SELECT j.value ->> 'domain' FROM json_each(CAST($2 AS text)) AS j)`)

	// saveSync stores the time, account and region of a sync. It changes nothing if the
	// stored time is not $5, because another sync has been stored since this one began. It
	// runs before all other writes of a sync, so that two syncs of an organization write
	// one after the other on PostgreSQL. The stored time always increases, even if the
	// clocks of processes differ, so it identifies the sync. The dashboard shows it,
	// because it tells how old the stored channels and identities are.
	saveSync = engine.Register("save sync", `
		INSERT INTO sending_syncs (org_id, account, region, synced_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id) DO UPDATE SET account = excluded.account, region = excluded.region,
			synced_at = CASE WHEN excluded.synced_at > sending_syncs.synced_at THEN excluded.synced_at ELSE sending_syncs.synced_at + 1 END
		WHERE sending_syncs.synced_at = $5`)
	lastSync = engine.RegisterPoint("last sync", `SELECT account, region, synced_at FROM sending_syncs WHERE org_id = $1`)
)

// seenChannel is a configuration set of the account: an element of the JSON parameter of
// saveChannels and detachChannels.
type seenChannel struct {
	ID                string `json:"id"`
	Name              string `json:"name"`
	Slug              string `json:"slug"`
	TrackingDomain    string `json:"tracking_domain"`
	SuppressionPolicy string `json:"suppression_policy"`
}

// seenIdentity is an identity of the account: an element of the JSON parameter of
// saveIdentities and dropIdentities. DKIMTokens is a JSON array.
type seenIdentity struct {
	ID           string                     `json:"id"`
	Identity     string                     `json:"identity"`
	Key          string                     `json:"key"`
	Verification sending.VerificationStatus `json:"verification"`
	Channel      string                     `json:"channel"`
	DKIMTokens   string                     `json:"dkim_tokens"`
}

// seenDomain is a tracking domain: an element of the JSON parameter of saveTracking and
// dropTracking. ID is a new id, which is used only if the domain is not stored yet.
type seenDomain struct {
	ID     string `json:"id"`
	Domain string `json:"domain"`
}

func (s Store) Mirror(ctx context.Context, orgID string, seen channels.Seen) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		saved, err := s.db.Exec(ctx, saveSync, orgID, seen.Account, seen.Region, engine.At(seen.At), engine.At(seen.Previous))
		if err != nil {
			return err
		}
		if saved == 0 {
			return core.Conflict("Another sync has stored the channels of this sending account.", "Sync again.")
		}
		for _, do := range []func(context.Context, string, channels.Seen) error{s.mirrorChannels, s.mirrorIdentities, s.mirrorTracking} {
			if err := do(ctx, orgID, seen); err != nil {
				return err
			}
		}
		return nil
	})
}

// mirrorChannels stores the account's configuration sets as channels. Of several sets with
// the same name it stores the first, because one statement must not write a row twice.
func (s Store) mirrorChannels(ctx context.Context, orgID string, seen channels.Seen) error {
	rows, err := engine.List[slugRow](ctx, s.db, channelSlugs, orgID)
	if err != nil {
		return err
	}
	known, names := map[string]string{}, make([]string, len(seen.Sets))
	for _, r := range rows {
		known[r.Name] = r.Slug
	}
	for i, set := range seen.Sets {
		names[i] = set.Name
	}
	fresh, once := channels.Slugs(known, names), map[string]bool{}
	var all []seenChannel
	for _, set := range seen.Sets {
		if once[set.Name] {
			continue
		}
		once[set.Name] = true
		policy, err := engine.EncodeTexts(set.SuppressionPolicy)
		if err != nil {
			return err
		}
		all = append(all, seenChannel{
			ID: core.NewID(), Name: set.Name, Slug: known[set.Name] + fresh[set.Name],
			TrackingDomain: strings.ToLower(set.TrackingDomain), SuppressionPolicy: policy,
		})
	}
	parameter, err := engine.JSONParameter(all)
	if err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, detachChannels, engine.At(seen.At), orgID, parameter); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, saveChannels, orgID, seen.Account, engine.At(seen.At), parameter)
	return err
}

// mirrorIdentities stores the account's identities. If several identities differ only in
// case, it stores the first, because one statement must not write a row twice.
func (s Store) mirrorIdentities(ctx context.Context, orgID string, seen channels.Seen) error {
	var all []seenIdentity
	once := map[string]bool{}
	for _, i := range seen.Identities {
		key := identityKey(i.Identity)
		if once[key] {
			continue
		}
		once[key] = true
		tokens, err := engine.EncodeTexts(i.DKIMTokens)
		if err != nil {
			return err
		}
		all = append(all, seenIdentity{
			ID: core.NewID(), Identity: i.Identity, Key: key, Verification: i.Verification, Channel: i.ConfigurationSet, DKIMTokens: tokens,
		})
	}
	parameter, err := engine.JSONParameter(all)
	if err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, dropIdentities, orgID, parameter); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, saveIdentities, orgID, engine.At(seen.At), parameter)
	return err
}

// mirrorTracking stores the tracking domains of the configuration sets in seen, each domain
// once. It deletes all others.
func (s Store) mirrorTracking(ctx context.Context, orgID string, seen channels.Seen) error {
	var all []seenDomain
	once := map[string]bool{"": true}
	for _, set := range seen.Sets {
		domain := strings.ToLower(set.TrackingDomain)
		if once[domain] {
			continue
		}
		once[domain] = true
		all = append(all, seenDomain{ID: core.NewID(), Domain: domain})
	}
	parameter, err := engine.JSONParameter(all)
	if err != nil {
		return err
	}
	if _, err := s.db.Exec(ctx, dropTracking, orgID, parameter); err != nil {
		return err
	}
	_, err = s.db.Exec(ctx, saveTracking, orgID, seen.Region, engine.At(seen.At), parameter)
	return err
}

func (s Store) LastSync(ctx context.Context, orgID string) (channels.Sync, error) {
	row, err := engine.One[syncRow](ctx, s.db, "sync", lastSync, orgID)
	if err != nil {
		return channels.Sync{}, err
	}
	return channels.Sync{Account: row.Account, Region: row.Region, At: row.SyncedAt.Time()}, nil
}
