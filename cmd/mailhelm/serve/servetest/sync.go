// Package servetest builds parts of a server for tests that set up data without one.
package servetest

import (
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
)

// NewSync returns a topics.Sync, which copies an account's contact list into Mailhelm's
// database. It is for setting up data without a server. It works as in a server, but does
// not update segments after changes of contacts.
func NewSync(db *storage.DB, account sending.Account, clock core.Clock, log *slog.Logger) *topics.Sync {
	subjects := topics.New(topics.Config{
		Store: db.Topics(), Transactor: db, Account: account, Live: topics.NewLive(account, clock, log), Locks: sending.NewKeyedLocks(), Contacts: db.ContactCount(), Clock: clock,
	})
	return topics.NewSync(topics.SyncConfig{Store: db.TopicSync(), Subscribers: db.Subscribers(), Topics: subjects, Orgs: db.Orgs().OrgIDs, Clock: clock, Log: log})
}
