package closing

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// personStore is [closing.PersonStore].
type personStore struct{ db *engine.DB }

// NewPersonStore returns the store that disables and deletes people.
func NewPersonStore(db *engine.DB) closing.PersonStore { return personStore{db} }

// personTable is a table with rows that belong to one person alone.
type personTable struct {
	name          string
	count, delete *engine.Statement
}

// tableOf registers the statements that count and delete the rows of a person. column has the
// person's id.
func tableOf(name, column string) personTable {
	return personTable{
		name:   name,
		count:  engine.Register("count "+name+" of a person", `SELECT count(*) FROM `+name+` WHERE `+column+` = $1`),
		delete: engine.Register("erase "+name+" of a person", `DELETE FROM `+name+` WHERE `+column+` = $1`),
	}
}

var (
	setDisabled = engine.Register("set disabled", `UPDATE users SET disabled_at = $1 WHERE id = $2`)

	// signInTables have what lets a person sign in without a password or passkey.
	signInTables = []personTable{
		tableOf("sessions", "user_id"), tableOf("passkey_ceremonies", "user_id"), tableOf("password_resets", "user_id"),
	}
	// personTables are all tables from which DeleteRows deletes, in its order. Tables that name
	// a person as an author or an actor keep the id: the audit log, versions, broadcasts.
	personTables = append(signInTables[:len(signInTables):len(signInTables)],
		tableOf("authenticators", "user_id"), tableOf("recovery_codes", "user_id"), tableOf("passkeys", "user_id"),
		tableOf("known_devices", "user_id"), tableOf("password_warnings", "user_id"),
		tableOf("domainauth_notices", "user_id"), tableOf("domainauth_subscriptions", "user_id"),
		tableOf("verified_senders", "owner"), tableOf("verified_sender_starts", "subject"),
		tableOf("invitations", "invited_by"), tableOf("members", "user_id"), tableOf("users", "id"),
	)
)

func (s personStore) SetDisabled(ctx context.Context, userID string, at *time.Time) error {
	return s.db.Change(ctx, "user", setDisabled, engine.OptionalAt(at), userID)
}

func (s personStore) EndSignIns(ctx context.Context, userID string) (int, error) {
	deleted, err := s.deleteFrom(ctx, signInTables, userID)
	if err != nil {
		return 0, err
	}
	return deleted[0].Rows, nil
}

func (s personStore) CountRows(ctx context.Context, userID string) ([]closing.TableRows, error) {
	rows := make([]closing.TableRows, len(personTables))
	for i, table := range personTables {
		n, err := engine.Values[int](ctx, s.db, table.count, userID)
		if err != nil {
			return nil, err
		}
		rows[i] = closing.TableRows{Table: table.name, Rows: n[0]}
	}
	return rows, nil
}

func (s personStore) DeleteRows(ctx context.Context, userID string) ([]closing.TableRows, error) {
	return s.deleteFrom(ctx, personTables, userID)
}

// deleteFrom deletes the rows of a person from the tables, in their order.
func (s personStore) deleteFrom(ctx context.Context, tables []personTable, userID string) ([]closing.TableRows, error) {
	rows := make([]closing.TableRows, len(tables))
	for i, table := range tables {
		n, err := s.db.Exec(ctx, table.delete, userID)
		if err != nil {
			return nil, err
		}
		rows[i] = closing.TableRows{Table: table.name, Rows: n}
	}
	return rows, nil
}
