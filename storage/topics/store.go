package topics

import (
	"context"
	"errors"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores copies of the sending account's topics and contact list, and notes about
// writes to the sending account.
type Store struct{ db *engine.DB }

var (
	_ topics.Store     = Store{}
	_ topics.SyncStore = Store{}
)

// New returns the store of topics on the database.
func New(db *engine.DB) Store { return Store{db} }

// topicRow is a topic, as the last sync read it from the sending account. Default applies
// to a contact without an explicit choice about the topic.
type topicRow struct {
	Name        string               `db:"name"`
	DisplayName string               `db:"display_name"`
	Description string               `db:"description"`
	Default     sending.Subscription `db:"default_subscription"`
	Origin      core.Origin          `db:"origin"`
	Status      string               `db:"status"`
	CreatedAt   engine.Time          `db:"created_at"`
	UpdatedAt   engine.Time          `db:"updated_at"`
}

// contactListRow is the contact list of the sending account. An organization has at most
// one.
type contactListRow struct {
	Name         string      `db:"name"`
	Description  string      `db:"description"`
	LastSyncedAt engine.Time `db:"last_synced_at"`
	CreatedAt    engine.Time `db:"created_at"`
	UpdatedAt    engine.Time `db:"updated_at"`
}

var (
	// allTopics selects all topics of the organization through the primary key. It needs no
	// LIMIT, because a sending account has few topics.
	allTopics = engine.RegisterPoint("topics", `
		SELECT name, display_name, description, default_subscription, origin, status, created_at, updated_at
		FROM topics WHERE org_id = $1 ORDER BY name`)
	// dropTopics deletes topics that the sending account no longer has. The choices of
	// contacts about a deleted topic stay stored.
	dropTopics = engine.Register("drop topics", `
		DELETE FROM topics WHERE org_id = $1
		AND name NOT IN (SELECT j.value ->> 'name' FROM json_each(CAST($2 AS text)) AS j)`)
	// saveTopics inserts new topics, and updates stored topics that differ from those of
	// the sending account. Equal rows do not change, so that updated_at is the time of a
	// real change.
	saveTopics = engine.Register("save topics", `
		INSERT INTO topics (org_id, name, display_name, description, default_subscription, origin, status, created_at, updated_at)
		SELECT $1, j.value ->> 'name', j.value ->> 'display_name', j.value ->> 'description', j.value ->> 'default',
			'managed', 'active', CAST($2 AS bigint), CAST($2 AS bigint)
		FROM json_each(CAST($3 AS text)) AS j WHERE TRUE
		ON CONFLICT (org_id, name) DO UPDATE SET display_name = excluded.display_name, description = excluded.description,
			default_subscription = excluded.default_subscription, updated_at = excluded.updated_at
		WHERE topics.display_name <> excluded.display_name OR topics.description <> excluded.description
		OR topics.default_subscription <> excluded.default_subscription`)

	contactList = engine.RegisterPoint("contact list", `
		SELECT name, description, last_synced_at, created_at, updated_at FROM contact_lists WHERE org_id = $1`)
	// saveContactList inserts the organization's contact list or replaces the stored one,
	// even if the stored list has another name.
	saveContactList = engine.Register("save contact list", `
		INSERT INTO contact_lists (org_id, name, description, last_synced_at, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (org_id) DO UPDATE SET name = excluded.name, description = excluded.description,
			last_synced_at = excluded.last_synced_at, created_at = excluded.created_at, updated_at = excluded.updated_at`)
)

func (s Store) Topics(ctx context.Context, orgID string) ([]topics.Topic, error) {
	return engine.ListAs(ctx, s.db, topicRow.topic, allTopics, orgID)
}

// topic converts the row to a topics.Topic.
func (r topicRow) topic() topics.Topic {
	return topics.Topic{
		Name: r.Name, DisplayName: r.DisplayName, Description: r.Description, Default: r.Default,
		Origin: r.Origin, Status: r.Status, CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
	}
}

// savedTopic is an element of the JSON parameter of dropTopics and saveTopics.
type savedTopic struct {
	Name        string               `json:"name"`
	DisplayName string               `json:"display_name"`
	Description string               `json:"description"`
	Default     sending.Subscription `json:"default"`
}

// ReplaceTopics replaces the stored topics by the given ones, in one transaction. A stored
// topic that has not changed keeps its times of creation and update.
func (s Store) ReplaceTopics(ctx context.Context, orgID string, topics []sending.Topic, at time.Time) error {
	saved := make([]savedTopic, len(topics))
	for i, t := range topics {
		saved[i] = savedTopic(t)
	}
	parameter, err := engine.JSONParameter(saved)
	if err != nil {
		return err
	}
	return s.db.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.db.Exec(ctx, dropTopics, orgID, parameter); err != nil {
			return err
		}
		_, err := s.db.Exec(ctx, saveTopics, orgID, engine.At(at), parameter)
		return err
	})
}

// ContactList returns the contact list of the sending account. Before the first sync it
// fails with CodeContactListNotSynced instead of NotFound, because the sending account may
// have a list that was not read yet.
func (s Store) ContactList(ctx context.Context, orgID string) (topics.ContactList, error) {
	row, err := engine.One[contactListRow](ctx, s.db, "contact list", contactList, orgID)
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeNotFound {
		return topics.ContactList{}, &core.Error{
			Code: core.CodeContactListNotSynced, Message: "The contact list has not been read from the sending account yet.",
		}
	}
	if err != nil {
		return topics.ContactList{}, err
	}
	return topics.ContactList{
		Name: row.Name, Description: row.Description, LastSyncedAt: row.LastSyncedAt.Time(),
		CreatedAt: row.CreatedAt.Time(), UpdatedAt: row.UpdatedAt.Time(),
	}, nil
}

func (s Store) SaveContactList(ctx context.Context, orgID string, l topics.ContactList) error {
	_, err := s.db.Exec(ctx, saveContactList, orgID, l.Name, l.Description, engine.At(l.LastSyncedAt), engine.At(l.CreatedAt), engine.At(l.UpdatedAt))
	return err
}
