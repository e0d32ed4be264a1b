package receiving

import (
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Receivers are the ways in which this installation receives mail for receiving domains. Both
// fields empty means that it receives none.
type Receivers struct {
	// MailHost is the public name of the SMTP receiver of this server. If it is set, new domains
	// are received here.
	MailHost string
	// Regions are the regions in which receiving by Amazon SES is set up, used without MailHost.
	Regions []string
}

// mxPreference is the preference of the MX record of a receiving domain.
const mxPreference = "10 "

// owner returns the identity that covers a domain, which is that of the domain itself or of a
// domain above it: the nearest that is verified, or else the nearest. It returns a NotFound
// error if the organization has none.
func (r *Receiving) owner(ctx context.Context, orgID, domain string) (channels.Identity, error) {
	var nearest *channels.Identity
	for name := domain; strings.Contains(name, "."); _, name, _ = strings.Cut(name, ".") {
		found, err := r.Identities.Identity(ctx, orgID, name)
		switch {
		case core.IsNotFound(err):
		case err != nil || found.Verification == sending.Success:
			return found, err
		case nearest == nil:
			nearest = &found
		}
	}
	if nearest == nil {
		return channels.Identity{}, core.NotFound("identity")
	}
	return *nearest, nil
}

// place is where and how a new domain is received.
type place struct {
	region      *string // nil for the receiver of this server
	crossRegion bool
	records     []Record
}

// placeOf returns where a domain that the identity covers is received, with the records to
// publish. It fails with core.CodeReceivingDomainNotOwned if the identity does not prove that
// the domain belongs to the organization, and no record could prove it.
func (r *Receiving) placeOf(ctx context.Context, orgID, domain string, owner channels.Identity) (place, error) {
	verified := owner.Verification == sending.Success
	if r.Receivers.MailHost != "" {
		if !verified {
			return place{}, notOwned(domain)
		}
		return place{records: []Record{{Type: "MX", Name: domain, Value: mxPreference + r.Receivers.MailHost}}}, nil
	}
	home, err := r.Region(ctx, orgID)
	if err != nil {
		return place{}, err
	}
	region := r.Receivers.Regions[0]
	if slices.Contains(r.Receivers.Regions, home) {
		region = home
	}
	p := place{region: &region, crossRegion: home != "" && region != home, records: []Record{{Type: "MX", Name: domain, Value: mxPreference + "inbound-smtp." + region + ".amazonaws.com"}}}
	if verified {
		return p, nil
	}
	keys := owner.Records()
	if len(keys) == 0 {
		return place{}, notOwned(domain)
	}
	for _, key := range keys {
		p.records = append(p.records, Record{Type: key.Type, Name: key.Name, Value: key.Value})
	}
	return p, nil
}

// notOwned returns the error for a domain that no verified identity of the organization covers.
func notOwned(domain string) *core.Error {
	return &core.Error{
		Code:    core.CodeReceivingDomainNotOwned,
		Message: "No verified sending domain of the organization is " + core.Quote(domain) + " or a domain above it.",
	}
}

// notDeployed returns the error for an installation without a receiver of mail.
func notDeployed() *core.Error {
	return &core.Error{Code: core.CodeInboundNotDeployed, Message: "This installation receives no mail for domains."}
}

// isPublished reports whether the DNS has a record. It fails if no name server answers.
func (r *Receiving) isPublished(ctx context.Context, orgID string, record Record) (bool, error) {
	return r.DNS.IsPublished(ctx, orgID, channels.Record{Type: record.Type, Name: record.Name, Value: record.Value})
}
