package receiving

import (
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Status says whether the DNS records of a receiving domain are published.
type Status string

// The states of a receiving domain. Verified is final.
const (
	PendingDNS Status = "pending_dns"
	Verified   Status = "verified"
	// Failed means that the last check could not be made, because no name server answered.
	Failed Status = "error"
)

// Domain is a domain at which an organization receives mail.
type Domain struct {
	ID          string    `json:"id" jsonschema:"format=uuid"`
	Domain      string    `json:"domain" voice:"untrusted" jsonschema_description:"Name in lower case, with A-labels."`
	Status      Status    `json:"status" jsonschema:"enum=pending_dns,enum=verified,enum=error" jsonschema_description:"Whether the records are published. A verified domain stays verified. error: no name server answered the last check; checks go on."`
	LastError   *string   `json:"last_error" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"The first record that the last check did not find, such as missing MX in.example.com; null once verified."`
	Region      *string   `json:"region" voice:"ours" jsonschema:"nullable" jsonschema_description:"Region of the provider that receives the mail; null if this server receives it itself."`
	CrossRegion bool      `json:"cross_region" jsonschema_description:"Whether the mail is received in another region than the one from which the account sends."`
	Records     []Record  `json:"records" jsonschema_description:"DNS records to publish. All are needed."`
	Webhook     *Webhook  `json:"webhook" jsonschema:"nullable" jsonschema_description:"null without a webhook. Mail is delivered once the domain is verified and the webhook is published."`
	CreatedAt   time.Time `json:"created_at"`

	// CheckAt is the time of the next background check, nil once the domain is verified.
	CheckAt *time.Time `json:"-"`
	// Secret is the encrypted signing secret of the webhook, nil without a webhook.
	// SecretNumber counts the secrets that the domain has had.
	Secret       []byte `json:"-"`
	SecretNumber int    `json:"-"`
	// Revision counts the changes that must be published. PublishAt is the time at which the
	// publisher looks at the domain next, nil if everything is published.
	Revision  int        `json:"-"`
	PublishAt *time.Time `json:"-"`
	// FailingSince is the time of the first failed attempt after the last success of the
	// webhook, nil if the last attempt succeeded.
	FailingSince *time.Time `json:"-"`
}

// changed returns the domain with a change that the publisher must publish at once.
func (d Domain) changed(now time.Time) Domain {
	d.Revision++
	d.PublishAt = &now
	return d
}

// IsReceiving reports whether mail to the domain is delivered once its routing is published.
func (d Domain) IsReceiving() bool { return d.Status == Verified && d.Webhook != nil }

// AlertAfter is how long every attempt of a webhook fails before pages show an alert.
const AlertAfter = time.Hour

// Alert returns a sentence about a webhook that has failed for AlertAfter at the time now, "" for
// any other.
func (d Domain) Alert(now time.Time) string {
	if d.Webhook == nil || d.FailingSince == nil || now.Sub(*d.FailingSince) < AlertAfter {
		return ""
	}
	return "Every delivery to the webhook of " + d.Domain + " since " + d.FailingSince.UTC().Format("2006-01-02 15:04 UTC") + " failed. Messages whose attempts end are delivered only if you send them again."
}

// Record is a DNS record that the owner of a domain must publish.
type Record struct {
	Type     string `json:"type" jsonschema:"enum=MX,enum=CNAME"`
	Name     string `json:"name" voice:"untrusted"`
	Value    string `json:"value" voice:"untrusted" jsonschema_description:"Of an MX record: preference and host."`
	Verified bool   `json:"verified" jsonschema_description:"Whether the last check found the record."`
}

// maxDomain is the length of the longest domain name in octets, without the final dot.
const maxDomain = 253

// domainName returns a name in its stored form: in lower case, with A-labels, without a final
// dot. It fails with core.CodeValidationFailed on the field "domain" for a text that is not the
// name of a domain below a top-level domain.
func domainName(text string) (string, error) {
	address, ok := core.CanonicalEmail("x@" + strings.TrimSuffix(strings.TrimSpace(text), "."))
	name := strings.ToLower(strings.TrimPrefix(address, "x@"))
	if !ok || len(name) > maxDomain || !strings.Contains(name, ".") || isNumeric(name[strings.LastIndexByte(name, '.')+1:]) {
		return "", core.Invalid("domain", "must be the name of a domain, such as in.example.com")
	}
	return name, nil
}

func isNumeric(label string) bool { return strings.Trim(label, "0123456789") == "" }

// reference returns the id or the name with which a caller names a domain, in its stored
// form. A text that is neither is returned in lower case and finds nothing.
func reference(text string) string {
	if core.IsID(text) {
		return strings.ToLower(text)
	}
	if name, err := domainName(text); err == nil {
		return name
	}
	return strings.ToLower(text)
}

// missing returns the text of last_error for a record that is not published.
func missing(r Record) string { return fmt.Sprintf("missing %s %s", r.Type, r.Name) }

// unchecked returns the text of last_error for a record that could not be looked up.
func unchecked(r Record) string {
	return fmt.Sprintf("cannot check %s %s: no name server answered", r.Type, r.Name)
}
