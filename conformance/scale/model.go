package scale

import "math"

// Load is what an installation does in a year.
type Load struct {
	Organizations, Contacts int64
	// Messages, MessageEvents, Activities and Runs are stored in a year, and kept for a year.
	Messages, MessageEvents, Activities, Runs int64
	// ContactWrites and Reads are calls in a year.
	ContactWrites, Reads int64
}

// The assumptions by which [LoadOf] divides events.
const (
	messageEventShare   = 0.4 // of the events, the others are activities
	eventsOfMessage     = 2.5
	activitiesOfRun     = 10
	writesOfContact     = 4 // in a year
	readsOfContactWrite = 5
)

// LoadOf returns the load of an installation with so many events in a year.
func LoadOf(organizations, contacts, events int64) Load {
	messageEvents := int64(messageEventShare * float64(events))
	l := Load{
		Organizations: organizations, Contacts: contacts,
		MessageEvents: messageEvents, Activities: events - messageEvents,
		Messages: int64(float64(messageEvents) / eventsOfMessage), ContactWrites: contacts * writesOfContact,
	}
	l.Runs, l.Reads = l.Activities/activitiesOfRun, l.ContactWrites*readsOfContactWrite
	return l
}

// The headroom and the machines of [Compute].
const (
	peak           = 5.0 // the busiest hour, as a multiple of the mean
	busiest        = 0.5 // share of the processors that are busy in the busiest hour
	bloat          = 1.3 // of PostgreSQL's tables and indexes after updates and deletions
	fullest        = 0.6 // share of a disk that is used
	nodeBytes      = 4e12
	nodeProcessors = 16.0
	// processors and connections are of one process of Mailhelm.
	processProcessors  = 2.0
	processConnections = 19
	yearSeconds        = 365 * 24 * 3600
)

// Needs is what a load needs on PostgreSQL.
type Needs struct {
	Load Load
	// Bytes are of all rows, with bloat, without copies and write-ahead log. Disk is the size
	// of the disks that are at most [fullest] used.
	Bytes, Disk float64
	// BytesOf are the shares of the units in Bytes.
	BytesOf map[string]float64
	// RowsMean and RowsPeak are written rows a second.
	RowsMean, RowsPeak float64
	// CallsPeak are calls and sent messages a second in the busiest hour.
	CallsPeak float64
	// ServerProcessors and DatabaseProcessors are processors with headroom.
	ServerProcessors, DatabaseProcessors float64
	Processes, Connections, Nodes        int
	// ContactsOfNode are the contacts on one node.
	ContactsOfNode float64
}

// Compute returns what a load needs.
func Compute(l Load) Needs {
	n := Needs{Load: l, BytesOf: map[string]float64{}}
	stored := map[string]int64{Contact: l.Contacts, Message: l.Messages, MessageEvent: l.MessageEvents, Activity: l.Activities, Run: l.Runs}
	written := map[string]int64{
		Contact: l.ContactWrites, Message: l.Messages, MessageEvent: l.MessageEvents, Activity: l.Activities, Run: l.Runs, Read: l.Reads,
	}
	for _, c := range Costs {
		n.BytesOf[c.Unit] = float64(stored[c.Unit]) * float64(c.Postgres.Heap+c.Postgres.Indexes) * bloat
		n.Bytes += n.BytesOf[c.Unit]
		rate := float64(written[c.Unit]) / yearSeconds
		n.RowsMean += rate * float64(c.Rows)
		n.ServerProcessors += rate * float64(c.ServerMicros) / 1e6 * peak / busiest
		n.DatabaseProcessors += rate * float64(c.DatabaseMicros) / 1e6 * peak / busiest
	}
	n.RowsPeak, n.Disk = n.RowsMean*peak, n.Bytes/fullest
	n.CallsPeak = float64(l.ContactWrites+l.Reads+l.Messages) / yearSeconds * peak
	n.Processes = int(math.Ceil(n.ServerProcessors/processProcessors)) + 1 // one may be down
	n.Connections = n.Processes * processConnections
	n.Nodes = int(math.Ceil(max(n.Disk/nodeBytes, n.DatabaseProcessors/nodeProcessors)))
	n.ContactsOfNode = float64(l.Contacts) / float64(n.Nodes)
	return n
}
