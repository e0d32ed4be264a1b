package reports

import (
	"database/sql/driver"

	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage/engine"
)

func init() { engine.RegisterFunction("report_digest", reportDigestParts, reportDigest) }

// reportDigest makes reports.MarkDigest available as an SQL function on SQLite, for the
// migration that computes report marks. On PostgreSQL the migration defines the function in
// SQL.
func reportDigest(args []driver.Value) driver.Value {
	parts := make([]string, len(args))
	for i, arg := range args {
		parts[i], _ = arg.(string)
	}
	return reports.MarkDigest(parts...)
}

const reportDigestParts = 7
