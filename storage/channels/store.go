package channels

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores channels, identities and tracking domains.
type Store struct{ db *engine.DB }

var _ channels.Store = Store{}

// New returns the store of channels and sending identities in the given database.
func New(db *engine.DB) Store { return Store{db} }

// channelRow is a channel, which is a configuration set of the sending account. Present is
// false if the account no longer has the configuration set. Adopted is true if the
// organization has made the channel active.
type channelRow struct {
	ID                string      `db:"id"`
	Name              string      `db:"name"`
	Slug              string      `db:"slug"`
	Account           string      `db:"account"`
	Present           bool        `db:"present"`
	Adopted           bool        `db:"adopted"`
	TrackingDomain    string      `db:"tracking_domain"`
	SuppressionPolicy string      `db:"suppression_policy"`
	CreatedAt         engine.Time `db:"created_at"`
	// Identities are those that send through the channel by default, one a line. NULL means none.
	Identities sql.NullString `db:"identities"`
}

// selectChannels returns the beginning of a statement that selects channels under the alias c. The
// column adopted is true if sending_claims has a row for the channel, which means that the
// organization has made the channel active. The row is found by primary key. bound is the
// expression for the identities. They come with the channel, because a second statement would
// double the time of a read.
func selectChannels(bound string) string {
	return `
	SELECT c.id, c.name, c.slug, c.account, c.present, c.tracking_domain, c.suppression_policy, c.created_at,
		EXISTS (SELECT 1 FROM sending_claims AS s
			WHERE s.org_id = c.org_id AND s.account = c.account AND s.kind = 'channel' AND s.name = c.name) AS adopted,
		` + bound + ` AS identities
	FROM channels AS c `
}

// identityLines is the expression that joins identities under the alias i.
const identityLines = `string_agg(i.identity, '
' ORDER BY i.identity_key)`

var (
	selectChannel = selectChannels(`(SELECT ` + identityLines + ` FROM identities AS i WHERE i.org_id = c.org_id AND i.channel = c.name)`)
	// channelsPage reads the identities of the organization once, and not once for each channel.
	channelsPage = engine.Register("channels page", selectChannels(`b.identities`)+`
		LEFT JOIN (SELECT i.channel, `+identityLines+` AS identities FROM identities AS i WHERE i.org_id = $1 GROUP BY i.channel) AS b
			ON b.channel = c.name
		WHERE c.org_id = $1 AND (c.created_at, c.id) < ($2, $3) ORDER BY c.created_at DESC, c.id DESC LIMIT $4`)
	channelByID   = engine.RegisterPoint("channel by id", selectChannel+`WHERE c.org_id = $1 AND c.id = $2`)
	channelBySlug = engine.RegisterPoint("channel by slug", selectChannel+`WHERE c.org_id = $1 AND c.slug = $2`)
	channelByName = engine.RegisterPoint("channel by name", selectChannel+`WHERE c.org_id = $1 AND c.name = $2`)

	// claim stores that an organization uses a channel or identity, which excludes other
	// organizations. If the channel or identity is already claimed, the statement changes
	// nothing. The caller must then read whether the organization itself has the claim.
	claim = engine.Register("claim", `
		INSERT INTO sending_claims (org_id, account, kind, name, claimed_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`)
	holdsClaim = engine.RegisterPoint("claim held", `
		SELECT count(*) FROM sending_claims WHERE org_id = $1 AND account = $2 AND kind = $3 AND name = $4`)
)

// The kinds of claims.
const (
	channelClaim  = "channel"
	identityClaim = "identity"
)

func (s Store) Channels(ctx context.Context, orgID string, after *core.After, limit int) ([]channels.Channel, error) {
	created, id := engine.PageStart(after)
	rows, err := engine.List[channelRow](ctx, s.db, channelsPage, orgID, created, id, limit)
	if err != nil {
		return nil, err
	}
	return channelsOf(rows)
}

func (s Store) Channel(ctx context.Context, orgID string, by channels.ChannelKey) (channels.Channel, error) {
	row, err := s.channel(ctx, orgID, by)
	if err != nil {
		return channels.Channel{}, err
	}
	all, err := channelsOf([]channelRow{row})
	if err != nil {
		return channels.Channel{}, err
	}
	return all[0], nil
}

// channel returns the channel with the given slug, name or id. If several of them are set,
// it uses the slug before the name and the name before the id.
func (s Store) channel(ctx context.Context, orgID string, by channels.ChannelKey) (channelRow, error) {
	statement, key := channelByID, by.ID
	switch {
	case by.Slug != "":
		statement, key = channelBySlug, by.Slug
	case by.Name != "":
		statement, key = channelByName, by.Name
	}
	return engine.One[channelRow](ctx, s.db, "channel", statement, orgID, key)
}

// channelsOf converts the rows to channels.
func channelsOf(rows []channelRow) ([]channels.Channel, error) {
	var err error
	all := make([]channels.Channel, len(rows))
	for i, r := range rows {
		all[i] = channels.Channel{
			ID: r.ID, Name: r.Name, Slug: r.Slug, Status: channels.StatusOf(r.Present, r.Adopted),
			Identities: []string{}, CreatedAt: r.CreatedAt.Time(),
		}
		if r.Identities.Valid {
			all[i].Identities = strings.Split(r.Identities.String, "\n")
		}
		if r.TrackingDomain != "" {
			all[i].TrackingDomain = &r.TrackingDomain
		}
		if all[i].SuppressionPolicy, err = engine.DecodeTexts(r.SuppressionPolicy); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s Store) Adopt(ctx context.Context, orgID, id string, at time.Time) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		row, err := s.channel(ctx, orgID, channels.ChannelKey{ID: id})
		if err != nil {
			return err
		}
		if !row.Present {
			return core.Conflict("The sending account no longer has this channel.", "Create the configuration set again, then adopt it after the next sync.")
		}
		if err := s.claim(ctx, orgID, row.Account, channelClaim, row.Name, at); err != nil {
			return err
		}
		all, err := channelsOf([]channelRow{row})
		if err != nil {
			return err
		}
		for _, identity := range all[0].Identities {
			if err := s.claim(ctx, orgID, row.Account, identityClaim, identityKey(identity), at); err != nil {
				return err
			}
		}
		return nil
	})
}

// claim claims a channel or identity of the provider's account for the organization. It
// fails with Conflict if another organization has claimed it, without naming that
// organization.
func (s Store) claim(ctx context.Context, orgID, account, kind, name string, at time.Time) error {
	inserted, err := s.db.Exec(ctx, claim, orgID, account, kind, name, engine.At(at))
	if err != nil || inserted == 1 {
		return err
	}
	held, err := engine.Values[int](ctx, s.db, holdsClaim, orgID, account, kind, name)
	if err != nil {
		return err
	}
	if held[0] == 0 {
		return core.Conflict("The "+kind+" "+core.Quote(name)+" of this sending account is used by another organization.",
			"Use another one, or ask the operator of this server.")
	}
	return nil
}
