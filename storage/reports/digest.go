package reports

import (
	"database/sql/driver"

	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage/engine"
)

func init() { engine.RegisterFunction("report_digest", reportDigestParts, reportDigest) }

// reportDigest is reports.MarkDigest for the migration that computes marks. On PostgreSQL
// that migration brings its own.
func reportDigest(args []driver.Value) driver.Value {
	parts := make([]string, len(args))
	for i, arg := range args {
		parts[i], _ = arg.(string)
	}
	return reports.MarkDigest(parts...)
}

const reportDigestParts = 7
