package storage

import (
	"context"

	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/activities"
	"github.com/mailhelm/mailhelm/storage/channels"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/messages"
	"github.com/mailhelm/mailhelm/storage/replay"
	"github.com/mailhelm/mailhelm/storage/reports"
	"github.com/mailhelm/mailhelm/storage/segments"
	sendingstore "github.com/mailhelm/mailhelm/storage/sending"
	"github.com/mailhelm/mailhelm/storage/suppression"
	"github.com/mailhelm/mailhelm/storage/templates"
)

// Config says which database to open; see [engine.Config].
type Config = engine.Config

// DB is an open database with the stores of all domains. It is safe for concurrent use.
type DB struct{ *engine.DB }

// Open opens the database without changing its schema; see [engine.DB.Migrate]. It fails
// when the database cannot be reached.
func Open(ctx context.Context, c Config) (*DB, error) {
	db, err := engine.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	return &DB{db}, nil
}

// Invitations is the store of open invitations.
func (db *DB) Invitations() members.InvitationStore { return invitationStore{db.DB} }

// Audience is the store of contacts, lists, attributes and topics.
func (db *DB) Audience() audience.Store { return audienceStore{db.DB} }

// Segments is the store of segments.
func (db *DB) Segments() segments.Store { return segments.New(db.DB) }

// Activities is the store of activities and promoted properties.
func (db *DB) Activities() activities.Store { return activities.New(db.DB, audienceStore{db.DB}) }

// ActivitiesPurger removes old activities and expired keys.
func (db *DB) ActivitiesPurger() activities.Store { return activities.New(db.DB, audienceStore{db.DB}) }

// Messages is the store of messages and their events.
func (db *DB) Messages() messages.Store { return messages.New(db.DB) }

// MessagesPurger removes old messages with their recipients, and old events.
func (db *DB) MessagesPurger() messages.Store { return messages.New(db.DB) }

// Reports is the store of figures per day and hour.
func (db *DB) Reports() reports.Store { return reports.New(db.DB) }

// ReportsPurger removes the figures of old days and their hours.
func (db *DB) ReportsPurger() reports.Store { return reports.New(db.DB) }

// Suppression is the store of undeliverable addresses and the rules for them.
func (db *DB) Suppression() suppression.Store { return suppression.New(db.DB) }

// Channels is the store of channels, identities and tracking domains.
func (db *DB) Channels() channels.Store { return channels.New(db.DB) }

// Connections is the store of connections to sending accounts. Their secrets are
// sealed with the sealer before they reach a statement, and bound to their
// organization.
func (db *DB) Connections(sealer sending.Sealer) sendingstore.ConnectionStore {
	return sendingstore.NewConnectionStore(db.DB, sealer)
}

// ProductionRequests is the store of requests for production access.
func (db *DB) ProductionRequests() sendingstore.AccessRequestStore {
	return sendingstore.NewAccessRequestStore(db.DB)
}

// Templates is the store of the account's templates.
func (db *DB) Templates() templates.Store { return templates.New(db.DB) }

// Replay is the store of replay records and used confirmations.
func (db *DB) Replay() replay.Store { return replay.New(db.DB) }

// Processes is the store of the heartbeats of processes.
func (db *DB) Processes() replay.ProcessStore { return replay.NewProcessStore(db.DB) }
