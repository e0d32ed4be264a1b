package reports

import (
	"database/sql/driver"

	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage/engine"
)

func init() { engine.RegisterFunction("report_digest", reportDigestParts, reportDigest) }

// reportDigest is reports.MarkDigest as an SQL function, for the migration that computes
// marks on SQLite. On PostgreSQL that migration defines its own.
func reportDigest(args []driver.Value) driver.Value {
	parts := make([]string, len(args))
	for i, arg := range args {
		parts[i], _ = arg.(string)
	}
	return reports.MarkDigest(parts...)
}

const reportDigestParts = 7
