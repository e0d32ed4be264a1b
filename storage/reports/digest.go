package reports

import (
	"database/sql/driver"

	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage/engine"
)

func init() { engine.RegisterFunction("report_digest", reportDigestParts, reportDigest) }

// reportDigest makes reports.MarkDigest available as an SQL function on SQLite. A migration
// uses it to compute report marks, by which unique opens and clicks are counted. On
// PostgreSQL the migration defines the function in SQL.
func reportDigest(args []driver.Value) driver.Value {
	parts := make([]string, len(args))
	for i, arg := range args {
		parts[i], _ = arg.(string)
	}
	return reports.MarkDigest(parts...)
}

const reportDigestParts = 7
