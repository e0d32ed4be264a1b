// Package lookup asks DNS about one domain: its DMARC record, its SPF record with all that it
// includes, its DKIM keys, and whether the destinations of its reports agree. It also finds the
// confirmed names of addresses, and the networks of known senders.
//
// A query that fails is never taken for a record that is absent: the last answer stays, with
// the time at which it was given. The package stores nothing and opens no connection: it asks
// a Resolver, and callers store what Look returns.
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
	// LookedAt is when Look last asked. A part with an earlier time is not fresh.
	LookedAt time.Time `json:"looked_at"`
	// At is when the DMARC record was last answered, zero if it never was.
	At time.Time `json:"at"`
	// Discovery has the DMARC record that applies to the domain.
	Discovery dmarc.Discovery `json:"discovery"`
	// Destinations are those of the record's aggregate reports. The Consent of one is empty if
	// DNS never answered about it. DestinationsAt is when DNS last answered about all.
	Destinations   []dmarc.Destination `json:"destinations"`
	DestinationsAt time.Time           `json:"destinations_at"`
	// SPF is the expanded SPF record, as it was at SPFAt.
	SPF   sources.Expansion `json:"spf"`
	SPFAt time.Time         `json:"spf_at"`
	// Records has the records whose changes are events. One that was never answered is left
	// out.
	Records []Record `json:"records"`
	// Selectors are the DKIM selectors of the domain that the sending account uses.
	Selectors []string `json:"selectors"`
}

// IsFresh reports whether DNS answered all queries of the last look.
func (s Snapshot) IsFresh() bool {
	for _, r := range s.Records {
		if !r.Fresh {
			return false
		}
	}
	return !s.LookedAt.IsZero() && s.At.Equal(s.LookedAt) && s.DestinationsAt.Equal(s.LookedAt) && s.SPFAt.Equal(s.LookedAt)
}

// Type is the type of a DNS record.
type Type string

// The types of records.
const (
	TXT   Type = "TXT"
	CNAME Type = "CNAME"
)

// Record is one record of DNS that authenticates mail.
type Record struct {
	// Name is the name in DNS, Kind that of the event of a change.
	Name string        `json:"name"`
	Kind timeline.Kind `json:"kind"`
	// Type is TXT, or CNAME if the name is an alias; Text is then its target.
	Type Type `json:"type"`
	// Text is the record, nil if there is none. Octets that are not UTF-8 are replaced.
	Text *string `json:"text"`
	// Several reports whether the name has more than one record, so that none counts; Text is
	// then nil.
	Several bool `json:"several,omitempty"`
	// Fresh is false if the last query failed, so that Text is an older answer.
	Fresh bool `json:"fresh"`
}
