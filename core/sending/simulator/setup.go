package simulator

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Setup is the content that Seed adds to an organization's account.
type Setup struct {
	// Account has the quota and the state of the account. If it is nil, an existing account
	// is kept, and a new account gets the defaults of SES: in the sandbox, 200 messages in
	// 24 hours, 1 per second. An empty AccountID or Region is replaced by a default. A
	// Max24HourSend of -1 means unlimited.
	Account *sending.Overview
	// Identities and ConfigurationSets are added, or replace those with the same name. The
	// account generates the DKIM tokens of domains.
	Identities        []sending.Identity
	ConfigurationSets []sending.ConfigurationSet
	// List is the contact list. Its topics are added, or replace those with the same name.
	// UpdatedAt is ignored. With nil, the contact list is not changed or created.
	List *sending.ContactList
	// Contacts are added to the contact list. An address that is already on the list keeps
	// its consent. A zero UpdatedAt means now.
	Contacts []sending.Contact
	// Suppressed are added to the suppression list, with the reason bounce or complaint. A
	// zero At means now. Existing entries are not changed.
	Suppressed []sending.Suppressed
	// Templates are added, or replace those with the same name.
	Templates []sending.Template
}

const (
	defaultRegion       = "us-east-1"
	sandbox24HourSend   = 200
	sandboxMaxSendRate  = 1
	accountIDUpperBound = 1_000_000_000_000
)

// Seed adds the content of setup to an organization's account, which it creates if
// necessary. It removes nothing and may be repeated. It has no deadline of its own, and
// faults do not affect it. It fails with a *sending.Failure: Invalid for an invalid value,
// Full for a 51st topic, NotFound for contacts without a contact list.
func (s *Simulator) Seed(ctx context.Context, orgID string, setup Setup) error {
	err := inTx(ctx, s.file.writer, func(tx *sql.Tx) error {
		w := &change{ctx: ctx, tx: tx, orgID: orgID}
		w.account(setup.Account)
		for _, i := range setup.Identities {
			w.identity(i)
		}
		for _, c := range setup.ConfigurationSets {
			w.exec(upsertConfigurationSet, orgID, c.Name, c.TrackingDomain, strings.Join(c.SuppressionPolicy, " "))
		}
		if setup.List != nil {
			w.list(*setup.List, s.clock().UnixMicro())
		}
		for _, entry := range setup.Suppressed {
			w.insertSuppressed(entry, s.clock())
		}
		for _, t := range setup.Templates {
			w.template(t, s.clock())
		}
		return w.err
	})
	if err != nil {
		return failureOf(err)
	}
	now := s.clock()
	return failureOf(s.storeContacts(ctx, s.insertContact, orgID, setup.Contacts, func(c sending.Contact) time.Time {
		if c.UpdatedAt.IsZero() {
			return now
		}
		return c.UpdatedAt
	}))
}

const (
	insertAccount = `
INSERT INTO accounts (org_id, account_id, region, sandbox, sending_enabled, max_24_hour_send, max_send_rate, sent_last_24_hours, review)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (org_id) DO `

	keepAccount = insertAccount + `NOTHING`

	upsertAccount = insertAccount + `UPDATE SET
	account_id = excluded.account_id, region = excluded.region, sandbox = excluded.sandbox,
	sending_enabled = excluded.sending_enabled, max_24_hour_send = excluded.max_24_hour_send,
	max_send_rate = excluded.max_send_rate, sent_last_24_hours = excluded.sent_last_24_hours,
	review = excluded.review`
)

func (w *change) account(wanted *sending.Overview) {
	text := upsertAccount
	o := sending.Overview{Sandbox: true, SendingEnabled: true, Max24HourSend: sandbox24HourSend, MaxSendRate: sandboxMaxSendRate}
	if wanted == nil {
		text = keepAccount
	} else {
		o = *wanted
	}
	if o.AccountID == "" {
		o.AccountID = mintAccountID(w.orgID)
	}
	if o.Region == "" {
		o.Region = defaultRegion
	}
	if !accountID.MatchString(o.AccountID) {
		w.err = invalid("an account id is twelve digits")
	}
	w.exec(text, w.orgID, o.AccountID, o.Region, o.Sandbox, o.SendingEnabled, o.Max24HourSend, o.MaxSendRate, o.SentLast24Hours, string(o.Review))
}

// mintAccountID derives the account id from the organization id, so that repeated calls of
// Seed use the same account id.
func mintAccountID(orgID string) string {
	sum := sha256.Sum256([]byte(orgID))
	return fmt.Sprintf("%012d", binary.BigEndian.Uint64(sum[:8])%accountIDUpperBound)
}

const upsertIdentity = `
INSERT INTO identities (org_id, identity_key, identity, verification, configuration_set) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (org_id, identity_key) DO UPDATE SET verification = excluded.verification, configuration_set = excluded.configuration_set`

func (w *change) identity(i sending.Identity) {
	switch i.Verification {
	case sending.Pending, sending.Success, sending.Failed:
		w.exec(upsertIdentity, w.orgID, strings.ToLower(i.Identity), i.Identity, string(i.Verification), i.ConfigurationSet)
	default:
		w.err = invalid("an identity's verification is none of pending, success and failed")
	}
}

const (
	upsertConfigurationSet = `
INSERT INTO configuration_sets (org_id, name, tracking_domain, suppression_policy) VALUES ($1, $2, $3, $4)
ON CONFLICT (org_id, name) DO UPDATE SET
	tracking_domain = excluded.tracking_domain, suppression_policy = excluded.suppression_policy`

	upsertList = `
INSERT INTO contact_lists (org_id, name, description, updated_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (org_id) DO UPDATE SET
	name = excluded.name, description = excluded.description, updated_at = excluded.updated_at
WHERE name <> excluded.name OR description <> excluded.description`

	upsertTopic = `
INSERT INTO topics (org_id, name, display_name, description, default_to, position)
VALUES ($1, $2, $3, $4, $5, (SELECT coalesce(max(position), -1) + 1 FROM topics WHERE org_id = $1))
ON CONFLICT (org_id, name) DO UPDATE SET
	display_name = excluded.display_name, description = excluded.description, default_to = excluded.default_to
WHERE display_name <> excluded.display_name OR description <> excluded.description OR default_to <> excluded.default_to`

	touchList   = `UPDATE contact_lists SET updated_at = $2 WHERE org_id = $1`
	countTopics = `SELECT count(*) FROM topics WHERE org_id = $1`

	insertContact = `
INSERT INTO contacts (org_id, email_key, email, unsubscribe_all, preferences, updated_at)
VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (org_id, email_key) DO NOTHING`
)

// list stores the contact list with its topics. The list's UpdatedAt changes only if the
// list or one of its topics changes. It fails with Full for more than 50 topics.
func (w *change) list(l sending.ContactList, at int64) {
	w.exec(upsertList, w.orgID, l.Name, l.Description, at)
	changed := int64(0)
	for _, t := range l.Topics {
		if w.err == nil {
			w.err = sending.CheckTopic(t)
		}
		changed += w.exec(upsertTopic, w.orgID, t.Name, t.DisplayName, t.Description, string(t.Default))
	}
	if changed == 0 || w.err != nil {
		return
	}
	w.exec(touchList, w.orgID, at)
	var topics int
	if err := w.tx.QueryRowContext(w.ctx, countTopics, w.orgID).Scan(&topics); err != nil {
		w.err = err
	} else if topics > sending.MaxTopics {
		w.err = sending.TooManyTopics()
	}
}
