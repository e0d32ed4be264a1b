package domainauth

import (
	"context"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Config has the dependencies of [DomainAuth]. All fields are required, unless their comments
// say what the zero value means.
type Config struct {
	Store    Store
	Figures  FigureStore
	Sources  SourceStore
	Timeline TimelineStore
	Measurer Measurer
	// Address returns the address that receives the reports of the domain with a token. nil
	// means that this installation receives no reports by mail.
	Address func(token string) string
}

// DomainAuth has the operations on domain authentication.
type DomainAuth struct{ Config }

// New returns a DomainAuth.
func New(cfg Config) *DomainAuth { return &DomainAuth{cfg} }

// Operations returns the operations of this package, in the order of the operation catalogue.
func (a *DomainAuth) Operations() []core.Operation {
	return []core.Operation{
		a.domainsList(), a.domainsGet(), a.sourcesList(), a.sourcesDecide(), a.readinessGet(), a.readinessAcknowledge(),
		a.remeasure(), a.timeseries(), a.timelineList(), a.comparisonGet(), a.notesCreate(),
	}
}

// DomainIn names a domain.
type DomainIn struct {
	Domain string `json:"domain" jsonschema:"minLength=1,maxLength=254" jsonschema_description:"Name of the domain, such as example.com; case has no meaning."`
}

// domainOf returns the domain that a caller names. In a transaction it locks the domain.
func (a *DomainAuth) domainOf(ctx context.Context, c *core.Call, named string) (Domain, error) {
	name, ok := dmarc.Name(strings.TrimSpace(named))
	if !ok {
		return Domain{}, noDomain()
	}
	org := c.Principal.Org.ID
	d, err := a.Store.Domain(ctx, org, name)
	if !core.IsNotFound(err) {
		return d, err
	}
	if err := a.Store.Enrol(ctx, org, c.Now); err != nil {
		return Domain{}, err
	}
	d, err = a.Store.Domain(ctx, org, name)
	if core.IsNotFound(err) {
		return d, noDomain()
	}
	return d, err
}

// noDomain is the error for a name that is no domain of the organization.
func noDomain() *core.Error {
	return core.NotFound("domain").WithNext("List the domains with domain_auth_domains_list. A domain is there once the sending account has verified it.")
}

// address returns the address that receives the reports of a domain, "" if there is none.
func (a *DomainAuth) address(d Domain) string {
	if a.Address == nil || d.Token == "" {
		return ""
	}
	return a.Address(d.Token)
}

// personOf returns the owner of what a caller decides. It fails with core.CodeValidationFailed
// for an application that acts for no person.
func personOf(p core.Principal) (string, error) {
	if p.Credential.Kind == core.OAuthClient && p.UserID == "" {
		return "", &core.Error{
			Code: core.CodeValidationFailed, Message: "A person must do this, and the access token identifies none: it is of an application that acts for itself.",
			Fields: []core.FieldError{{Field: "authorization", Reason: "must identify a person"}},
			Next:   "Use an API key, or an access token that a person granted. A repetition with this token fails again.",
		}
	}
	return p.Owner(), nil
}

// PeriodIn bounds figures in time.
type PeriodIn struct {
	From *time.Time `json:"from,omitempty" jsonschema_description:"First day, as a time in it (UTC). Default: 30 days before to. Figures are kept for two years."`
	To   *time.Time `json:"to,omitempty" jsonschema_description:"End: the day of this time counts unless it is midnight. Default: now."`
}

// days returns the whole UTC days of the period.
func (in PeriodIn) days(now time.Time) (Days, error) {
	w, err := core.WindowOf(in.From, in.To, now, RetentionDays)
	if err != nil {
		return Days{}, err
	}
	return Days{From: dayOf(w.From), To: dayOf(w.To.Add(24*time.Hour - 1))}, nil
}

func dayOf(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
