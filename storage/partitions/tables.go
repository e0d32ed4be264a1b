package partitions

import (
	"cmp"
	"fmt"
	"time"
)

// Table is a table that is divided by time.
type Table struct {
	Name string
	// Column has the time as a number of units since 1970. It is in the primary key, at least when
	// the table is divided; see Key.
	Column string
	// Unit is the unit of Column.
	Unit time.Duration
	// Received is the column with the time in microseconds by which the retention counts, or "" if
	// that is Column. It is never before Column.
	Received string
	// Key has the columns of the primary key of the divided table, separated by commas, or "" if
	// that is the key from the schema. PostgreSQL requires that Column is among them.
	Key string
	// OwnPeriods is true if the rows are deleted after a period that each organization chooses. A
	// month is dropped when no row is left.
	OwnPeriods bool
	// Back selects the parked rows that come back at the end of a move, if that is not simply all
	// of them. See [Table.parked].
	Back string
}

// Tables returns the tables that are divided.
func Tables() []Table {
	return []Table{
		{Name: "activities", Column: "occurred_at", Unit: time.Microsecond, Received: "received_at"},
		{Name: "message_events", Column: "occurred_at", Unit: time.Microsecond},
		{Name: "message_recipients", Column: "sent_at", Unit: time.Microsecond, Back: recipientsBack},
		{Name: "domainauth_rows", Column: "day", Unit: 24 * time.Hour},
		{Name: "handover_recipients", Column: "created_at", Unit: time.Microsecond, Key: "org_id, send_id, recipient, created_at", OwnPeriods: true},
		{Name: "workflow_events", Column: "occurred_at", Unit: time.Microsecond, Key: "org_id, workflow_id, run_id, id, occurred_at", OwnPeriods: true},
	}
}

// recipientsBack gives parked recipients the time of their message, which an event may have made
// earlier, and leaves out those that the event has stored again.
const recipientsBack = `SELECT r.org_id, r.recipient, m.sent_at, r.message_id FROM message_recipients_parked AS r
	JOIN messages AS m ON m.org_id = r.org_id AND m.id = r.message_id ON CONFLICT DO NOTHING`

// Layout identifies the partitions that [Keeper.Setup] makes. Databases with another layout are
// different, although they have the same migrations.
func Layout() string { return fmt.Sprint("1 ", Tables()) }

// month is the first moment of a UTC month.
type month struct{ time.Time }

// monthFormat is the form of a month in names.
const monthFormat = "200601"

func monthOf(t time.Time) month {
	t = t.UTC()
	return month{time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC)}
}

func (m month) next() month { return month{m.AddDate(0, 1, 0)} }

func (m month) name() string { return m.Format(monthFormat) }

// parseMonth returns the month of a name, or false.
func parseMonth(text string) (month, bool) {
	t, err := time.Parse(monthFormat, text)
	return month{t}, err == nil
}

// before returns the name of the partition with the rows from before a month. It is also the name
// of the constraint that keeps other rows out while the table is moved.
func (t Table) before(m month) string { return t.Name + "_before_" + m.name() }

// of returns the name of the partition of a month.
func (t Table) of(m month) string { return t.Name + "_" + m.name() }

// rest returns the name of the default partition.
func (t Table) rest() string { return t.Name + "_default" }

// parked returns the name of the table that has rows of the far future while the table is moved.
func (t Table) parked() string { return t.Name + "_parked" }

// key returns the name of the index that becomes the primary key of the divided table.
func (t Table) key() string { return t.Name + "_divided_key" }

// staying returns an SQL condition for the rows that stay when their month is dropped, or "" if
// none do.
func (t Table) staying(before time.Time) string {
	switch {
	case t.OwnPeriods:
		return "TRUE"
	case t.Received != "":
		return fmt.Sprintf("%s >= %d", t.Received, before.UnixMicro())
	}
	return ""
}

// bound returns the SQL literal of the beginning of a month.
func (t Table) bound(m month) string { return fmt.Sprint(m.UnixMicro() / t.Unit.Microseconds()) }

// back returns the SELECT clause for the parked rows that come back.
func (t Table) back() string { return cmp.Or(t.Back, "SELECT * FROM "+t.parked()) }

// within returns an SQL condition for the rows of a month.
func (t Table) within(m month) string {
	return t.Column + " >= " + t.bound(m) + " AND " + t.Column + " < " + t.bound(m.next())
}

// values returns the clause of the partition of a month.
func (t Table) values(m month) string {
	return "FOR VALUES FROM (" + t.bound(m) + ") TO (" + t.bound(m.next()) + ")"
}
