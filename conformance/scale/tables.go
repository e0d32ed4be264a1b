package scale

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/storage/storagetest/placement"
)

// costTable returns the table of Costs, in Markdown.
func costTable() string {
	var b strings.Builder
	b.WriteString("| unit | what it is | rows | PostgreSQL: tables | indexes | SQLite | µs of the server | µs of PostgreSQL | from | statements of the call |\n|---|---|--:|--:|--:|--:|--:|--:|---|---|\n")
	for _, c := range Costs {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d | %s | %s |\n",
			c.Unit, c.What, c.Rows, c.Postgres.Heap, c.Postgres.Indexes, c.SQLite.Heap, c.ServerMicros, c.DatabaseMicros, c.Measured, c.statements())
	}
	return b.String()
}

// statements returns the number of statements with the name of the call.
func (c Cost) statements() string {
	if c.Call == "" {
		return ""
	}
	return fmt.Sprintf("%d (`%s`)", c.Statements, c.Call)
}

// needsTable returns what three sizes of installations need, in Markdown.
func needsTable() string {
	loads := []Load{LoadOf(100, 1e6, 1e7), LoadOf(1000, 1e8, 1e9), LoadOf(10_000, 1e9, 1e10)}
	needs := make([]Needs, len(loads))
	for i, l := range loads {
		needs[i] = Compute(l)
	}
	var b strings.Builder
	b.WriteString("| | small | medium | large |\n|---|--:|--:|--:|\n")
	row := func(name string, value func(Needs) string) {
		b.WriteString("| " + name)
		for _, n := range needs {
			b.WriteString(" | " + value(n))
		}
		b.WriteString(" |\n")
	}
	row("organizations", func(n Needs) string { return count(float64(n.Load.Organizations)) })
	row("contacts", func(n Needs) string { return count(float64(n.Load.Contacts)) })
	row("events in a year", func(n Needs) string { return count(float64(n.Load.MessageEvents + n.Load.Activities)) })
	for _, unit := range []string{Contact, Message, MessageEvent, Activity, Run} {
		row("GB of "+plural(unit), func(n Needs) string { return gigabytes(n.BytesOf[unit]) })
	}
	row("GB in all", func(n Needs) string { return gigabytes(n.Bytes) })
	row("**GB of disks**, without copies", func(n Needs) string { return gigabytes(n.Disk) })
	row("rows written in a second, mean", func(n Needs) string { return count(n.RowsMean) })
	row("rows written in a second, busiest hour", func(n Needs) string { return count(n.RowsPeak) })
	row("calls and sent messages in a second, busiest hour", func(n Needs) string { return count(n.CallsPeak) })
	row("**processors of servers**", func(n Needs) string { return fmt.Sprintf("%.1f", n.ServerProcessors) })
	row("**processors of PostgreSQL**", func(n Needs) string { return fmt.Sprintf("%.1f", n.DatabaseProcessors) })
	row("processes with two processors, one more than needed", func(n Needs) string { return count(float64(n.Processes)) })
	row("**connections** without a pooler", func(n Needs) string { return count(float64(n.Connections)) })
	row("**nodes** of PostgreSQL with 16 processors and 4 TB", func(n Needs) string { return count(float64(n.Nodes)) })
	row("contacts of a node", func(n Needs) string { return count(n.ContactsOfNode) })
	return b.String()
}

func plural(unit string) string {
	if stem, found := strings.CutSuffix(unit, "y"); found {
		return stem + "ies"
	}
	return unit + "s"
}

func gigabytes(bytes float64) string { return count(bytes / 1e9) }

// count returns a number without decimals, with commas between thousands.
func count(n float64) string {
	digits := fmt.Sprintf("%.0f", n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// placementTable returns the tables that are not distributed, in Markdown.
func placementTable() string {
	var b strings.Builder
	b.WriteString("| table | kind | why |\n|---|---|---|\n")
	for _, t := range placement.Exceptions {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", t.Name, t.Kind, t.Why)
	}
	return b.String()
}
