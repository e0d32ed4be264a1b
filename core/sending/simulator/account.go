package simulator

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// selectAccount does not count the messages of the last 24 hours: that takes milliseconds
	// after a broadcast, and every write reads the account.
	selectAccount = `
SELECT account_id, region, sandbox, sending_enabled, max_24_hour_send, max_send_rate, sent_last_24_hours, review
FROM accounts WHERE org_id = $1`

	selectRecentlySent = `SELECT coalesce(sum(recipients), 0) FROM sent WHERE org_id = $1 AND at > $2`
)

// Overview returns quota and state.
func (s *Simulator) Overview(ctx context.Context, orgID string) (sending.Overview, error) {
	var o sending.Overview
	err := s.call(ctx, MethodOverview, func(ctx context.Context) error {
		var err error
		if o, err = readAccount(ctx, s.selectAccount, orgID); err != nil {
			return err
		}
		var sent int64
		err = s.selectRecentlySent.QueryRowContext(ctx, orgID, s.clock().Add(-day).UnixMicro()).Scan(&sent)
		o.SentLast24Hours += sent
		return err
	})
	if err != nil {
		return sending.Overview{}, err
	}
	return o, nil
}

// day is the period of the account's daily sending quota.
const day = 24 * time.Hour

// readAccount reads the account. SentLast24Hours has only the messages that Seed set as sent.
func readAccount(ctx context.Context, stmt *sql.Stmt, orgID string) (sending.Overview, error) {
	var o sending.Overview
	err := stmt.QueryRowContext(ctx, orgID).Scan(&o.AccountID, &o.Region, &o.Sandbox,
		&o.SendingEnabled, &o.Max24HourSend, &o.MaxSendRate, &o.SentLast24Hours, &o.Review)
	if errors.Is(err, sql.ErrNoRows) {
		return o, noAccount()
	}
	return o, err
}

// selectIdentities returns at least one row, possibly with an empty identity, if the
// organization has an account. No row means that it has no account.
const selectIdentities = `
SELECT a.account_id, coalesce(i.identity, ''), coalesce(i.verification, ''), coalesce(i.configuration_set, '')
FROM accounts a LEFT JOIN identities i ON i.org_id = a.org_id
WHERE a.org_id = $1 ORDER BY i.identity_key`

// Identities returns the account's identities in alphabetical order.
func (s *Simulator) Identities(ctx context.Context, orgID string) ([]sending.Identity, error) {
	var identities []sending.Identity
	err := s.call(ctx, MethodIdentities, func(ctx context.Context) error {
		return ofAccount(ctx, s.selectIdentities, orgID, func(rows *sql.Rows) error {
			var accountID string
			var i sending.Identity
			err := rows.Scan(&accountID, &i.Identity, &i.Verification, &i.ConfigurationSet)
			if err == nil && i.Identity != "" {
				i.DKIMTokens = dkimTokens(accountID, i.Identity)
				identities = append(identities, i)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return identities, nil
}

const selectConfigurationSets = `
SELECT a.org_id, coalesce(c.name, ''), coalesce(c.tracking_domain, ''), coalesce(c.suppression_policy, '')
FROM accounts a LEFT JOIN configuration_sets c ON c.org_id = a.org_id
WHERE a.org_id = $1 ORDER BY c.name`

// ConfigurationSets returns the account's configuration sets in alphabetical order.
func (s *Simulator) ConfigurationSets(ctx context.Context, orgID string) ([]sending.ConfigurationSet, error) {
	var sets []sending.ConfigurationSet
	err := s.call(ctx, MethodConfigurationSets, func(ctx context.Context) error {
		return ofAccount(ctx, s.selectConfigurationSets, orgID, func(rows *sql.Rows) error {
			var org, policy string
			var c sending.ConfigurationSet
			err := rows.Scan(&org, &c.Name, &c.TrackingDomain, &policy)
			if err == nil && c.Name != "" {
				c.SuppressionPolicy = strings.Fields(policy)
				sets = append(sets, c)
			}
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return sets, nil
}

// ofAccount runs the query stmt and calls take for every row. It fails with NotConnected if
// the query returns no row.
func ofAccount(ctx context.Context, stmt *sql.Stmt, orgID string, take func(*sql.Rows) error) error {
	found := false
	err := eachRow(ctx, stmt, func(rows *sql.Rows) error {
		found = true
		return take(rows)
	}, orgID)
	if err == nil && !found {
		return noAccount()
	}
	return err
}

func eachRow(ctx context.Context, stmt *sql.Stmt, take func(*sql.Rows) error, args ...any) error {
	rows, err := stmt.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // errors are in rows.Err
	for rows.Next() {
		if err := take(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}
