package consent

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores contact lists. It implements the interface Consent of package
// core/sending/smtp.
type Store struct {
	db    *engine.DB
	clock core.Clock
}

// New returns the store on the database. clock gives the times of changes; nil means the clock
// of the database.
func New(db *engine.DB, clock core.Clock) Store {
	if clock == nil {
		clock = db.Now
	}
	return Store{db, clock}
}

// listRow is the contact list of an organization.
type listRow struct {
	Name        string      `db:"name"`
	Description string      `db:"description"`
	UpdatedAt   engine.Time `db:"updated_at"`
	// NextPosition is behind the position of every contact. Moved is the hash of what was last
	// moved into the list; see [Store.Adopt].
	NextPosition int64  `db:"next_position"`
	Moved        string `db:"moved"`
}

// topicRow is a topic of a contact list.
type topicRow struct {
	Name        string               `db:"name" json:"name"`
	DisplayName string               `db:"display_name" json:"display_name"`
	Description string               `db:"description" json:"description"`
	Default     sending.Subscription `db:"default_subscription" json:"default"`
	Position    int64                `db:"position" json:"position"`
}

var (
	consentList = engine.RegisterPoint("consent list", `
		SELECT name, description, updated_at, next_position, moved FROM consent_lists WHERE org_id = $1`)
	// holdConsentList locks the list until the end of the transaction, and reserves positions
	// for $1 new contacts. next_position is the first position behind them.
	holdConsentList = engine.Register("hold consent list", `
		UPDATE consent_lists SET next_position = next_position + $1 WHERE org_id = $2
		RETURNING name, description, updated_at, next_position, moved`)
	insertConsentList = engine.Register("insert consent list", `
		INSERT INTO consent_lists (org_id, name, description, updated_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (org_id) DO NOTHING`)
	touchConsentList = engine.Register("touch consent list", `
		UPDATE consent_lists SET updated_at = $1 WHERE org_id = $2`)

	consentTopics = engine.RegisterPoint("consent topics", `
		SELECT name, display_name, description, default_subscription, position FROM consent_topics
		WHERE org_id = $1 ORDER BY position, name`)
	// putConsentTopics inserts topics, or replaces all of stored ones but their positions.
	putConsentTopics = engine.Register("put consent topics", `
		INSERT INTO consent_topics (org_id, name, display_name, description, default_subscription, position)
		SELECT $1, v ->> 'name', v ->> 'display_name', v ->> 'description', v ->> 'default', CAST(v ->> 'position' AS bigint)
		FROM `+engine.ParameterRows(`$2`)+` WHERE TRUE
		ON CONFLICT (org_id, name) DO UPDATE SET display_name = excluded.display_name,
			description = excluded.description, default_subscription = excluded.default_subscription`)
	deleteConsentTopic = engine.Register("delete consent topic", `
		DELETE FROM consent_topics WHERE org_id = $1 AND name = $2`)
	// forgetConsentTopic removes the choice for a topic from all contacts. $1 and $2 are an
	// opt-in and an opt-out of the topic as words between spaces. Replacing finds them too,
	// because both databases compare names with LIKE differently.
	forgetConsentTopic = engine.Register("forget consent topic", `
		UPDATE consent_contacts SET preferences = trim(replace(replace(' ' || preferences || ' ', $1, ' '), $2, ' '))
		WHERE org_id = $3 AND replace(replace(' ' || preferences || ' ', $1, ' '), $2, ' ') <> ' ' || preferences || ' '`)
)

// ContactList returns the organization's contact list, with its topics in the order of their
// creation. It fails with NotFound if there is no list.
func (s Store) ContactList(ctx context.Context, orgID string) (sending.ContactList, error) {
	row, err := s.list(ctx, consentList, orgID)
	if err != nil {
		return sending.ContactList{}, failureOf(err, false)
	}
	topics, err := engine.ListAs(ctx, s.db, topicRow.topic, consentTopics, orgID)
	if err != nil {
		return sending.ContactList{}, failureOf(err, false)
	}
	if len(topics) == 0 {
		topics = nil
	}
	return sending.ContactList{Name: row.Name, Description: row.Description, Topics: topics, UpdatedAt: row.UpdatedAt.Time()}, nil
}

// list returns the list that a statement reads. It fails with NotFound if there is none.
func (s Store) list(ctx context.Context, by *engine.Statement, args ...any) (listRow, error) {
	rows, err := engine.List[listRow](ctx, s.db, by, args...)
	if err == nil && len(rows) == 0 {
		err = noList()
	}
	if err != nil {
		return listRow{}, err
	}
	return rows[0], nil
}

// EnsureContactList creates a contact list if the organization has none.
func (s Store) EnsureContactList(ctx context.Context, orgID string) error {
	_, err := s.db.Exec(ctx, insertConsentList, orgID, sending.DefaultContactList, "", engine.At(s.clock()))
	return failureOf(err, true)
}

// ChangeTopics replaces the topics by the result of change, in one transaction that holds the
// list, so that no other writer can interfere, in no process. change may be called again, with
// topics that were read again. Topics keep the order of their creation. Removing a topic deletes
// the contacts' choices for it. It fails with NotFound without a list, with Invalid for a topic
// that is not allowed, with Full for too many topics, and with the error of change.
func (s Store) ChangeTopics(ctx context.Context, orgID string, change sending.TopicsChange) error {
	var refused error
	err := s.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.list(ctx, holdConsentList, 0, orgID); err != nil {
			return err
		}
		before, err := engine.List[topicRow](ctx, s.db, consentTopics, orgID)
		if err != nil {
			return err
		}
		topics := make([]sending.Topic, len(before))
		for i, row := range before {
			topics[i] = row.topic()
		}
		if topics, refused = change(topics); refused != nil {
			return refused
		}
		if err := sending.CheckTopics(topics); err != nil {
			return err
		}
		if len(topics) > sending.MaxTopics {
			return sending.TooManyTopics()
		}
		return s.replaceTopics(ctx, orgID, before, topics, s.clock())
	})
	if refused != nil {
		return refused
	}
	return failureOf(err, true)
}

// replaceTopics stores the difference between two states of the topics. The list's time changes
// to at, and only if a topic changes.
func (s Store) replaceTopics(ctx context.Context, orgID string, before []topicRow, after []sending.Topic, at time.Time) error {
	named := map[string]sending.Topic{}
	for _, t := range after {
		named[t.Name] = t
	}
	known, changed := map[string]topicRow{}, false
	next := int64(0)
	for _, row := range before {
		if known[row.Name] = row; row.Position >= next {
			next = row.Position + 1
		}
		if _, kept := named[row.Name]; kept {
			continue
		}
		changed = true
		if _, err := s.db.Exec(ctx, deleteConsentTopic, orgID, row.Name); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, forgetConsentTopic, " +"+row.Name+" ", " -"+row.Name+" ", orgID); err != nil {
			return err
		}
	}
	var put []topicRow
	for _, t := range after {
		row := topicRow{t.Name, t.DisplayName, t.Description, t.Default, next}
		if old, kept := known[t.Name]; kept {
			row.Position = old.Position
		} else {
			next++
		}
		if known[t.Name] != row {
			put = append(put, row)
		}
	}
	if len(put) == 0 && !changed {
		return nil
	}
	if len(put) > 0 {
		if err := engine.ExecRows(ctx, s.db, putConsentTopics, orgID, put); err != nil {
			return err
		}
	}
	_, err := s.db.Exec(ctx, touchConsentList, engine.At(at), orgID)
	return err
}

// topic converts the row to a sending.Topic.
func (r topicRow) topic() sending.Topic {
	return sending.Topic{Name: r.Name, DisplayName: r.DisplayName, Description: r.Description, Default: r.Default}
}

// topicNames returns the set of names of the organization's topics.
func (s Store) topicNames(ctx context.Context, orgID string) (map[string]bool, error) {
	rows, err := engine.List[topicRow](ctx, s.db, consentTopics, orgID)
	names := make(map[string]bool, len(rows))
	for _, r := range rows {
		names[r.Name] = true
	}
	return names, err
}

// hasPreferences reports whether one of the contacts has a choice about a topic.
func hasPreferences(contacts []sending.Contact) bool {
	return slices.ContainsFunc(contacts, func(c sending.Contact) bool { return len(c.Preferences) > 0 })
}
