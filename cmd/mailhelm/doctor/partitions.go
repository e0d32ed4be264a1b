package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/partitions"
)

// partitions checks that large tables are divided by time and have partitions for the next rows.
// SQLite has none.
func (e *examination) partitions(ctx context.Context, db *storage.DB) {
	states, err := db.Partitions().States(ctx, e.cfg.Clock())
	if err != nil {
		e.add("partitions", Warn, "the partitions cannot be read: "+err.Error(), "")
		return
	}
	var fine []string
	for _, s := range states {
		if detail, next := judgePartitions(s); detail != "" {
			e.add("partitions", Warn, s.Table+" "+detail, next)
			continue
		}
		fine = append(fine, fmt.Sprintf("%s (%d months)", s.Table, s.Months))
	}
	if len(fine) > 0 {
		e.add("partitions", OK, "are made ahead for "+strings.Join(fine, ", "), "")
	}
}

// judgePartitions returns what is wrong with the partitions of a table and what to do, or "".
func judgePartitions(s partitions.State) (detail, next string) {
	const wait = "A worker does so within an hour; see its log for the job partitions_keep."
	switch {
	case s.Moving:
		return "is being divided by time; reads and writes go on", "Wait; a worker continues it within an hour, also after it was interrupted."
	case !s.Divided:
		return "is not divided by time yet", wait
	case len(s.Missing) > 0:
		return "lacks partitions, so new rows are in its default partition: " + strings.Join(s.Missing, ", "), wait
	case len(s.Loose) > 0:
		return "has detached partitions that are not dropped yet: " + strings.Join(s.Loose, ", "), wait
	case s.Rest == partitions.ManyRest:
		return fmt.Sprintf("has %d rows or more in its default partition; making a partition then locks it for longer", s.Rest),
			"The retention deletes them. They are from before the oldest partition, or from a time without a worker."
	}
	return "", ""
}
