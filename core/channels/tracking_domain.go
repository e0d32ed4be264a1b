package channels

import (
	"time"
)

// TrackingStatus is the state of a tracking domain: whether its DNS records are published.
type TrackingStatus string

// The states of a tracking domain. TrackingFailed means that its records were not published
// within a week and are no longer checked.
const (
	TrackingPending  TrackingStatus = "pending"
	TrackingVerified TrackingStatus = "verified"
	TrackingFailed   TrackingStatus = "failed"
)

// TrackingDomain is a domain through which the tracked links of messages lead.
type TrackingDomain struct {
	ID         string         `json:"-"`
	Domain     string         `json:"domain" voice:"untrusted"`
	Status     TrackingStatus `json:"status" jsonschema:"enum=pending,enum=verified,enum=failed"`
	SSL        string         `json:"ssl_status" jsonschema:"enum=pending,enum=active,enum=failed" jsonschema_description:"Derived from status: active once verified. No connection to the domain tests it."`
	Records    []Record       `json:"dns_records" jsonschema_description:"All records are needed."`
	CreatedAt  time.Time      `json:"created_at"`
	VerifiedAt *time.Time     `json:"verified_at" jsonschema:"nullable"`

	Region    string     `json:"-"`
	CheckedAt *time.Time `json:"-"`
}

// Record is a DNS record that the owner of a domain must publish.
type Record struct {
	Type  string `json:"type" jsonschema:"enum=CNAME"`
	Name  string `json:"name" voice:"untrusted"`
	Value string `json:"value" voice:"untrusted"`
}

// describe returns d with its SSL status and the DNS records to publish. tokens are the
// DKIM tokens of the sending identity with the same domain.
func (d TrackingDomain) describe(tokens []string) TrackingDomain {
	d.SSL = map[TrackingStatus]string{TrackingPending: "pending", TrackingVerified: "active", TrackingFailed: "failed"}[d.Status]
	d.Records = append([]Record{{Type: "CNAME", Name: d.Domain, Value: RedirectHost(d.Region)}}, dkimRecords(d.Domain, tokens)...)
	return d
}

// RedirectHost returns the host of the provider that counts opens and clicks in the region.
func RedirectHost(region string) string { return "r." + region + ".awstrack.me" }

func dkimRecords(domain string, tokens []string) []Record {
	var records []Record
	for _, token := range tokens {
		records = append(records, Record{Type: "CNAME", Name: token + "._domainkey." + domain, Value: token + ".dkim.amazonses.com"})
	}
	return records
}

// The intervals at which a pending domain is checked, by the domain's age. DNS records are
// usually published within the hour. They are published days later if the customer must ask
// another person to do it.
const (
	firstHour = time.Hour
	firstDay  = 24 * time.Hour
	givenUp   = 7 * 24 * time.Hour

	everyTwoMinutes = 2 * time.Minute
	everyTenMinutes = 10 * time.Minute
	everyHour       = time.Hour

	// early is how long before the end of its interval a domain may be checked again. The
	// job runs every two minutes, but not exactly. Without early, the run after a slightly
	// late check would skip the domain.
	early = time.Minute
)

// due reports whether it is time to check the DNS records of the domain again.
func (d TrackingDomain) due(now time.Time) bool {
	if d.CheckedAt == nil {
		return true
	}
	every := everyHour
	switch age := now.Sub(d.CreatedAt); {
	case age < firstHour:
		every = everyTwoMinutes
	case age < firstDay:
		every = everyTenMinutes
	}
	return !now.Before(d.CheckedAt.Add(every - early))
}

// withCheck returns the domain with the result of a check of its DNS records. The status is
// verified if the records are published. It is failed if they are missing a week after the
// domain was created. If the check failed with an error, it is unknown whether the records
// are published, and the status stays.
func (d TrackingDomain) withCheck(published bool, failure error, now time.Time) TrackingDomain {
	d.CheckedAt = &now
	switch {
	case failure != nil:
	case published:
		d.Status, d.VerifiedAt = TrackingVerified, &now
	case now.Sub(d.CreatedAt) >= givenUp:
		d.Status = TrackingFailed
	}
	return d
}
