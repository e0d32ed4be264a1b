// Package lookup asks DNS about one domain: its DMARC record, its SPF record with all that it
// includes, its DKIM keys, and whether the destinations of its reports agree.
package lookup

import (
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/sources"
	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Snapshot is what DNS says about a domain. It is stored as JSON. Where a query failed, it has
// the last answer.
type Snapshot struct {
	// At is when the DMARC record was last answered.
	At time.Time `json:"at"`
	// Discovery has the DMARC record that applies to the domain.
	Discovery dmarc.Discovery `json:"discovery"`
	// Destinations are those of the record's aggregate reports.
	Destinations []dmarc.Destination `json:"destinations"`
	// SPF is the expanded SPF record.
	SPF sources.Expansion `json:"spf"`
	// Records has the records whose changes are events.
	Records []Record `json:"records"`
	// Selectors are the DKIM selectors of the domain that the sending account uses.
	Selectors []string `json:"selectors"`
}

// Record is one record of DNS that authenticates mail.
type Record struct {
	// Name is the name in DNS, Kind that of the event of a change.
	Name string        `json:"name"`
	Kind timeline.Kind `json:"kind"`
	// Text is the record, nil if there is none.
	Text *string `json:"text"`
	// Fresh is false if the last query failed, so that Text is an older answer.
	Fresh bool `json:"fresh"`
}
