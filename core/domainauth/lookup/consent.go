package lookup

import (
	"strings"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Consent is the record with which the host of a report address agrees to receive the reports
// of a domain (RFC 9990 section 4).
type Consent struct {
	Name string
	// Given reports whether DNS had it.
	Given bool
}

// ConsentTo returns the record that an address for reports about a domain needs. destinations
// are those of the published record. The result is false if none is needed, because the
// address is at the domain or below it.
func ConsentTo(domain, address string, destinations []dmarc.Destination) (Consent, bool) {
	host := strings.ToLower(address[strings.LastIndexByte(address, '@')+1:])
	if host == domain || strings.HasSuffix(host, "."+domain) {
		return Consent{}, false
	}
	c := Consent{Name: domain + "._report._dmarc." + host}
	for _, d := range destinations {
		if d.Host != host {
			continue
		}
		if d.Consent == dmarc.ConsentUnneeded {
			return Consent{}, false
		}
		c.Given = c.Given || d.Consent == dmarc.ConsentGiven
	}
	return c, true
}
