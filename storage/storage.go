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

// Config selects the database to open; see [engine.Config].
type Config = engine.Config

// DB is an open database with the stores of all domains. It is safe for concurrent use.
type DB struct{ *engine.DB }

// Open opens the database without changing its schema; see [engine.DB.Migrate]. It
// returns an error if the database cannot be reached.
func Open(ctx context.Context, c Config) (*DB, error) {
	db, err := engine.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	return &DB{db}, nil
}

// Invitations returns the store of open invitations.
func (db *DB) Invitations() members.InvitationStore { return invitationStore{db.DB} }

// Audience returns the store of contacts, lists, attributes and topics.
func (db *DB) Audience() audience.Store { return audienceStore{db.DB} }

// Segments returns the store of segments.
func (db *DB) Segments() segments.Store { return segments.New(db.DB) }

// Activities returns the store of activities and promoted properties.
func (db *DB) Activities() activities.Store { return activities.New(db.DB, audienceStore{db.DB}) }

// ActivitiesPurger returns the store that deletes old activities and expired keys.
func (db *DB) ActivitiesPurger() activities.Store { return activities.New(db.DB, audienceStore{db.DB}) }

// Messages returns the store of messages and their events.
func (db *DB) Messages() messages.Store { return messages.New(db.DB) }

// MessagesPurger returns the store that deletes old messages with their recipients, and
// old events.
func (db *DB) MessagesPurger() messages.Store { return messages.New(db.DB) }

// Reports returns the store of figures per day and hour.
func (db *DB) Reports() reports.Store { return reports.New(db.DB) }

// ReportsPurger returns the store that deletes the figures of old days and hours.
func (db *DB) ReportsPurger() reports.Store { return reports.New(db.DB) }

// Suppression returns the store of undeliverable addresses and the rules for them.
func (db *DB) Suppression() suppression.Store { return suppression.New(db.DB) }

// Channels returns the store of channels, identities and tracking domains.
func (db *DB) Channels() channels.Store { return channels.New(db.DB) }

// Connections returns the store of connections to sending accounts. It seals their
// secrets, bound to their organization, before they reach a statement.
func (db *DB) Connections(sealer sending.Sealer) sendingstore.ConnectionStore {
	return sendingstore.NewConnectionStore(db.DB, sealer)
}

// ProductionRequests returns the store of requests for production access.
func (db *DB) ProductionRequests() sendingstore.AccessRequestStore {
	return sendingstore.NewAccessRequestStore(db.DB)
}

// Templates returns the store of the account's templates.
func (db *DB) Templates() templates.Store { return templates.New(db.DB) }

// Replay returns the store of replay records and used confirmations.
func (db *DB) Replay() replay.Store { return replay.New(db.DB) }

// Processes returns the store of the heartbeats of processes.
func (db *DB) Processes() replay.ProcessStore { return replay.NewProcessStore(db.DB) }
