package scale

// The kinds of units that make an installation grow.
const (
	Contact      = "contact"
	Message      = "message"
	MessageEvent = "message event"
	Activity     = "activity"
	Run          = "workflow run"
	Read         = "read of a contact"
)

// Cost is what one unit costs.
type Cost struct {
	Unit string
	// What says what the unit consists of.
	What string
	// Rows is the number of rows that the unit leaves.
	Rows int64
	// Postgres and SQLite are the bytes of the rows. On SQLite all are in Heap.
	Postgres, SQLite Bytes
	// ServerMicros and DatabaseMicros are the microseconds of a processor that PostgreSQL and
	// Mailhelm need to write the unit once.
	ServerMicros, DatabaseMicros int64
	// Call is the call that writes or reads the unit, by its name in conformance/load/floors.json,
	// where its statements on PostgreSQL are counted. It is empty if no call does.
	Call string
	// Statements are those of the call.
	Statements int64
	// Measured says where the processor time comes from.
	Measured string
}

// Costs has the measured costs. Processor times are of a busy machine (load 15 on two cores of
// an AMD EPYC, 2026-11-29), which is up to twice the time of an idle one. Those from
// conformance/load/RESULTS.md are upper bounds: both cores for the time of the measurement.
var Costs = []Cost{
	{Contact, "five attributes, four of them in columns, an external id, a topic, a list, a segment", 5, Bytes{893, 1604}, Bytes{2453, 0}, 3800, 3000, "contacts_replace", 5, fromCalls},
	{Message, "a message with one recipient, sent through SMTP", 2, Bytes{467, 1239}, Bytes{1533, 0}, 373, 373, "", 0, fromResults},
	{MessageEvent, "a delivery, or an open with its user agent", 1, Bytes{315, 454}, Bytes{671, 0}, 20, 154, "", 0, fromResults},
	{Activity, "an activity with three properties, 100 in a request", 1, Bytes{234, 490}, Bytes{616, 0}, 65, 68, "activities_record, 100", 3, fromCalls},
	{Run, "a run through six steps, with its history", 7, Bytes{1761, 3783}, Bytes{4398, 0}, 150, 1326, "", 0, fromResults},
	{Read, "one contact by its address", 0, Bytes{}, Bytes{}, 600, 300, "contacts_lookup", 1, fromCalls},
}

const (
	fromCalls   = "benchmark"
	fromResults = "RESULTS.md"
)

func costOf(unit string) Cost {
	for _, c := range Costs {
		if c.Unit == unit {
			return c
		}
	}
	panic("scale: no cost of " + unit)
}
