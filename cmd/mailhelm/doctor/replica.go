package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// replicaWait is how long doctor waits for the replica.
const replicaWait = 3 * time.Second

// replica checks that the replica is a standby of the database and not too far behind. Its
// problems are warnings, because servers then read from the database itself.
func (e *examination) replica(ctx context.Context, db *storage.DB) {
	if e.cfg.DatabaseReplicaURL == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, replicaWait)
	defer cancel()
	lag, why := db.CheckReplica(ctx)
	detail, next := "", ""
	switch why {
	case "":
		e.add("database replica", OK, fmt.Sprintf("is a standby of the database, at most %s behind", lag.Round(time.Millisecond)), "")
		return
	case engine.ReplicaPromoted:
		detail, next = "--database-replica-url leads to a server that is no standby of this database", "Set it to a streaming standby, or set up the standby again if it was promoted."
	case engine.ReplicaLags:
		detail, next = "the standby is further behind than --database-replica-lag", "See pg_stat_replication on the primary, and whether replay is paused on the standby."
	default:
		detail, next = "--database-replica-url does not answer", "Check that the standby runs, and that its pg_hba.conf admits this user and machine."
	}
	e.add("database replica", Warn, detail+"; until then servers read from the database itself", next)
}
