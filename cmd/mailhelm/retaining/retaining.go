// Package retaining connects core/retention with the database and with what erases contacts.
// Servers, the demo and commands of the operator use it.
package retaining

import (
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/partitions"
	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/core/retention"
	"github.com/mailhelm/mailhelm/storage/engine"
	partitionstore "github.com/mailhelm/mailhelm/storage/partitions"
	privacystore "github.com/mailhelm/mailhelm/storage/privacy"
	retentionstore "github.com/mailhelm/mailhelm/storage/retention"
)

// Parts are what the functions of this package need. All fields are required, except where a
// function says so.
type Parts struct {
	DB    *engine.DB
	Orgs  members.OrgStore
	Audit access.AuditAppender
	Clock core.Clock
}

// Settings returns what reads and changes the periods of organizations.
func (p Parts) Settings() retention.Settings {
	return retention.Settings{Store: retentionstore.New(p.DB), Orgs: p.Orgs.Org, Audit: p.Audit, Transactor: p.DB, Clock: p.Clock}
}

// Worker returns the job that deletes old records. runs ends the runs of contacts that it erases.
func (p Parts) Worker(erased privacy.Erased, runs privacy.Runs, log *slog.Logger) jobs.Worker[retention.Args] {
	return retention.Worker(retention.Config{
		Settings: p.Settings(), OrgIDs: p.Orgs.OrgIDs, Log: log, Sleep: core.Sleep,
		Contacts: privacy.Archive{
			Store: privacystore.New(p.DB), Tombstones: erased.Store, Hasher: erased.Hasher, Runs: runs, Transactor: p.DB, Clock: p.Clock,
		},
	})
}

// Partitions returns the job that makes and removes the partitions of large tables. It needs no
// Orgs and no Audit.
func (p Parts) Partitions(log *slog.Logger) jobs.Worker[partitions.Args] {
	return partitions.Worker(partitions.Config{
		Store: partitionstore.New(p.DB), Busy: partitionstore.ErrBusy, Clock: p.Clock, Log: log, Sleep: core.Sleep,
	})
}
