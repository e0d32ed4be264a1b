package channels

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// identityRow is a sender identity, as the last sync read it. Channel is the configuration
// set that the identity sends through by default, or "".
type identityRow struct {
	ID           string                     `db:"id"`
	Identity     string                     `db:"identity"`
	Verification sending.VerificationStatus `db:"verification"`
	Channel      string                     `db:"channel"`
	DKIMTokens   string                     `db:"dkim_tokens"`
	CreatedAt    engine.Time                `db:"created_at"`
}

// tokensRow has the DKIM tokens of one identity, as a JSON array.
type tokensRow struct {
	Key        string `db:"identity_key"`
	DKIMTokens string `db:"dkim_tokens"`
}

// trackingRow is a tracking domain with the result of the last check of its DNS record.
// CheckedAt is nil before the first check.
type trackingRow struct {
	ID         string                  `db:"id"`
	Domain     string                  `db:"domain"`
	Region     string                  `db:"region"`
	Status     channels.TrackingStatus `db:"status"`
	CreatedAt  engine.Time             `db:"created_at"`
	CheckedAt  *engine.Time            `db:"checked_at"`
	VerifiedAt *engine.Time            `db:"verified_at"`
}

const (
	selectIdentities = `SELECT id, identity, verification, channel, dkim_tokens, created_at FROM identities `
	selectTracking   = `SELECT id, domain, region, status, created_at, checked_at, verified_at FROM tracking_domains `
)

var (
	// identitiesPage selects a page of identities after the cursor, newest first, through
	// the index identities_newest.
	identitiesPage = engine.Register("identities page", selectIdentities+`
		WHERE org_id = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4`)
	// identityByKey selects an identity by its key, which is the identity in lower case. The
	// key is unique in an organization.
	identityByKey = engine.RegisterPoint("identity", selectIdentities+`WHERE org_id = $1 AND identity_key = $2`)
	// tokensOf reads the DKIM tokens of many domains with one statement. $2 is a JSON array
	// of identity keys.
	tokensOf = engine.Register("DKIM tokens", `
		SELECT identity_key, dkim_tokens FROM identities
		WHERE org_id = $1 AND identity_key IN (SELECT j.atom FROM json_each(CAST($2 AS text)) AS j)`)

	// trackingPage selects a page of tracking domains after the cursor, newest first,
	// through the index tracking_domains_newest.
	trackingPage = engine.Register("tracking domains page", selectTracking+`
		WHERE org_id = $1 AND (created_at, id) < ($2, $3) ORDER BY created_at DESC, id DESC LIMIT $4`)
	trackingByDomain = engine.RegisterPoint("tracking domain", selectTracking+`WHERE org_id = $1 AND domain = $2`)
	// unverified selects tracking domains with the status pending: not yet verified, and not
	// failed. The query uses no index of its own, because an organization has few tracking
	// domains.
	unverified = engine.Register("unverified tracking domains", selectTracking+`
		WHERE org_id = $1 AND status = 'pending' ORDER BY domain`)
	// setTracking stores the result of a DNS check. It changes no row if a sync has deleted
	// the domain.
	setTracking = engine.Register("set tracking status", `
		UPDATE tracking_domains SET status = $1, checked_at = $2, verified_at = $3 WHERE org_id = $4 AND id = $5`)
)

// identityKey returns the identity in lower case, because identities are compared without
// regard to upper and lower case.
func identityKey(identity string) string { return strings.ToLower(identity) }

// identity converts the row to a channels.Identity. The field DKIM gets the same status as
// Verification. identity returns an error if the DKIM tokens do not parse.
func (r identityRow) identity() (channels.Identity, error) {
	tokens, err := engine.DecodeTexts(r.DKIMTokens)
	return channels.Identity{
		ID: r.ID, Identity: r.Identity, Type: channels.TypeOf(r.Identity), Verification: r.Verification, DKIM: r.Verification,
		CreatedAt: r.CreatedAt.Time(), Tokens: tokens, Channel: r.Channel,
	}, err
}

// domain converts the row.
func (r trackingRow) domain() channels.TrackingDomain {
	return channels.TrackingDomain{
		ID: r.ID, Domain: r.Domain, Region: r.Region, Status: r.Status, CreatedAt: r.CreatedAt.Time(),
		CheckedAt: engine.OptionalTime(r.CheckedAt), VerifiedAt: engine.OptionalTime(r.VerifiedAt),
	}
}

func (s Store) Identities(ctx context.Context, orgID string, after *core.After, limit int) ([]channels.Identity, error) {
	created, id := engine.PageStart(after)
	return engine.ListParsed(ctx, s.db, identityRow.identity, identitiesPage, orgID, created, id, limit)
}

func (s Store) Identity(ctx context.Context, orgID, key string) (channels.Identity, error) {
	row, err := engine.One[identityRow](ctx, s.db, "identity", identityByKey, orgID, key)
	if err != nil {
		return channels.Identity{}, err
	}
	return row.identity()
}

func (s Store) Tokens(ctx context.Context, orgID string, domains []string) (map[string][]string, error) {
	parameter, err := engine.JSONParameter(domains)
	if err != nil {
		return nil, err
	}
	rows, err := engine.List[tokensRow](ctx, s.db, tokensOf, orgID, parameter)
	if err != nil {
		return nil, err
	}
	tokens := make(map[string][]string, len(rows))
	for _, r := range rows {
		if tokens[r.Key], err = engine.DecodeTexts(r.DKIMTokens); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

func (s Store) TrackingDomains(ctx context.Context, orgID string, after *core.After, limit int) ([]channels.TrackingDomain, error) {
	created, id := engine.PageStart(after)
	return s.readTrackingDomains(ctx, trackingPage, orgID, created, id, limit)
}

func (s Store) UnverifiedDomains(ctx context.Context, orgID string) ([]channels.TrackingDomain, error) {
	return s.readTrackingDomains(ctx, unverified, orgID)
}

// readTrackingDomains returns the tracking domains that the statement selects, in the order
// of the statement.
func (s Store) readTrackingDomains(ctx context.Context, by *engine.Statement, args ...any) ([]channels.TrackingDomain, error) {
	return engine.ListAs(ctx, s.db, trackingRow.domain, by, args...)
}

func (s Store) TrackingDomain(ctx context.Context, orgID, domain string) (channels.TrackingDomain, error) {
	row, err := engine.One[trackingRow](ctx, s.db, "tracking domain", trackingByDomain, orgID, domain)
	return row.domain(), err
}

func (s Store) SetTrackingStatus(ctx context.Context, orgID string, d channels.TrackingDomain) error {
	_, err := s.db.Exec(ctx, setTracking, string(d.Status), engine.OptionalAt(d.CheckedAt), engine.OptionalAt(d.VerifiedAt), orgID, d.ID)
	return err
}
