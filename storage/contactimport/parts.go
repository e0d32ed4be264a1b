package contactimport

import "github.com/mailhelm/mailhelm/storage/engine"

// PartsAtOnce returns the number of parts of a contact file that are best stored at the same time. Each
// needs a processor of the database server most of the time. SQLite has one writer.
func PartsAtOnce(db *engine.DB) int {
	if db.Engine() == "sqlite" {
		return 1
	}
	return 2
}
