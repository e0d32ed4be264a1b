package channels

import (
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Status is the state of a channel, a configuration set of the sending account.
type Status string

// The states of a channel. A channel that a sync finds in the account is discovered. It
// becomes active when a member of the organization takes it into use. It is detached if the
// account no longer has it. The API's states archived and pending are not used yet.
const (
	Active     Status = "active"
	Discovered Status = "discovered"
	Detached   Status = "detached"
)

// StatusOf returns the state of a channel. present is true if the account has the channel,
// adopted if the organization has made it active. If a channel disappears from the account
// and returns, it has the same state as before.
func StatusOf(present, adopted bool) Status {
	switch {
	case !present:
		return Detached
	case adopted:
		return Active
	}
	return Discovered
}

// Channel is one configuration set of the sending account.
type Channel struct {
	ID                string    `json:"id" jsonschema:"format=uuid" jsonschema_description:"Value for the filter channel of other routes."`
	Name              string    `json:"name" voice:"untrusted" jsonschema_description:"The configuration set at the provider."`
	Slug              string    `json:"slug" voice:"ours"`
	Status            Status    `json:"status" jsonschema:"enum=active,enum=discovered,enum=detached,enum=archived,enum=pending"`
	TrackingDomain    *string   `json:"tracking_domain" voice:"untrusted" jsonschema:"nullable"`
	SuppressionPolicy []string  `json:"suppression_policy" jsonschema:"enum=BOUNCE,enum=COMPLAINT" jsonschema_description:"Empty: the channel does not use the account's suppression list."`
	Identities        []string  `json:"identities" voice:"untrusted" jsonschema_description:"Domains and addresses that use this configuration set by default."`
	CreatedAt         time.Time `json:"created_at" jsonschema_description:"When the sync first found it."`
}

// IdentityType tells whether a sending identity is a domain or an address.
type IdentityType string

// The types.
const (
	EmailIdentity  IdentityType = "email"
	DomainIdentity IdentityType = "domain"
)

// Identity is a domain or an address from which the account may send.
type Identity struct {
	ID             string                     `json:"-"`
	Identity       string                     `json:"identity" voice:"untrusted"`
	Type           IdentityType               `json:"type" jsonschema:"enum=email,enum=domain"`
	Verification   sending.VerificationStatus `json:"verification_status" jsonschema:"enum=pending,enum=success,enum=failed"`
	DKIM           sending.VerificationStatus `json:"dkim_status" jsonschema:"enum=pending,enum=success,enum=failed" jsonschema_description:"Always equal to verification_status."`
	MailFromDomain *string                    `json:"mail_from_domain" voice:"untrusted" jsonschema:"nullable" jsonschema_description:"Always null."`
	CreatedAt      time.Time                  `json:"created_at" jsonschema_description:"When the sync first found it."`
	// Tokens has the DKIM tokens of a domain. Channel is the name of the identity's default
	// configuration set.
	Tokens  []string `json:"-"`
	Channel string   `json:"-"`
}

// Records returns the DKIM records that a domain must publish in the DNS. It returns nil
// for an address.
func (i Identity) Records() []Record {
	if i.Type != DomainIdentity {
		return nil
	}
	return dkimRecords(strings.ToLower(i.Identity), i.Tokens)
}

// TypeOf returns the type of the identity: EmailIdentity if it contains an @, else
// DomainIdentity.
func TypeOf(identity string) IdentityType {
	if strings.Contains(identity, "@") {
		return EmailIdentity
	}
	return DomainIdentity
}
