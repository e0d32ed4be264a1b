package account

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// GetIn is the input of account_get, which has no arguments.
type GetIn struct {
	live *sending.Overview
	// silent is true if a sending account is connected but its state could not be read.
	silent bool
}

// Overview is the result of account_get: the organization with its sending account, and the
// organization's plan.
type Overview struct {
	Org OrgRef `json:"org"`
	// AWS and SendQuota are both null if no sending account is connected, or if the state of
	// the account could not be read. They do not affect the other members.
	AWS              *CloudAccount     `json:"aws" jsonschema:"nullable" jsonschema_description:"The connected sending account; null if none is connected or it does not answer."`
	SendQuota        *SendQuota        `json:"send_quota" jsonschema:"nullable"`
	ProductionAccess *ProductionAccess `json:"production_access" jsonschema:"nullable" jsonschema_description:"null until production access was requested."`
	CloudFormation   *InfraTemplate    `json:"cloudformation" jsonschema:"nullable" jsonschema_description:"null while no template version is recorded."`
	Plan             Plan              `json:"plan"`

	// Silent is true if AWS and SendQuota are null because the connected account did not
	// answer.
	Silent bool `json:"-"`
}

// IsTransient reports whether the REST response must not be cached. It returns true if the
// sending account did not answer, because it may answer a moment later.
func (o Overview) IsTransient() bool { return o.Silent }

// OrgRef is the organization in the result of account_get.
type OrgRef struct {
	ID   string `json:"id" jsonschema:"format=uuid"`
	Name string `json:"name" voice:"untrusted"`
	Slug string `json:"slug" voice:"untrusted"`
}

// CloudAccount is the connected account at the provider, such as AWS.
type CloudAccount struct {
	AccountID *string `json:"account_id" voice:"untrusted" jsonschema:"nullable"`
	Region    string  `json:"region" voice:"untrusted"`
	Sandbox   bool    `json:"sandbox" jsonschema_description:"Whether the account may only send to verified addresses."`
}

// SendQuota is how many messages the account may send in 24 hours and in a second, and how
// many it has sent. Values are never negative.
type SendQuota struct {
	Max24Hour      int64 `json:"max_24_hour"`
	MaxSendRate    int64 `json:"max_send_rate" jsonschema_description:"Messages a second."`
	SentLast24Hour int64 `json:"sent_last_24_hours"`
}

// ProductionAccess is the state of the organization's latest request for production access.
// Granted access ends the limits of the provider's sandbox.
type ProductionAccess struct {
	Status    string     `json:"status" jsonschema:"enum=pending,enum=under_review,enum=granted,enum=denied,enum=failed"`
	GrantedAt *time.Time `json:"granted_at" jsonschema:"nullable"`
}

// InfraTemplate is the infrastructure template (CloudFormation) that the customer applied
// to the AWS account.
type InfraTemplate struct {
	StackName       *string `json:"stack_name" voice:"untrusted" jsonschema:"nullable"`
	TemplateVersion int     `json:"template_version"`
	LatestVersion   int     `json:"latest_version"`
	UpToDate        bool    `json:"up_to_date"`
	DriftStatus     *string `json:"drift_status" voice:"untrusted" jsonschema:"nullable"`
}

// Plan is the plan that the organization pays for.
type Plan struct {
	Tier          string `json:"tier" jsonschema:"enum=free,enum=team,enum=business,enum=admin,enum=sponsored,enum=demo"`
	RetentionDays int    `json:"retention_days" jsonschema_description:"Days that reports and messages are kept."`
	RateLimit     *int   `json:"api_rate_limit_per_minute" jsonschema:"nullable" jsonschema_description:"null means no limit."`
}

func (a *Account) accountGet() core.Operation {
	return core.Declare(core.Op[GetIn, Overview]{
		Name:    "account_get",
		Title:   "Read the account",
		Purpose: "Reads the organization, its connected sending account with quota, and its plan. When the sending account does not answer, its members are null and the rest is answered.",
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.AccountView},
		Prepare: func(ctx context.Context, c *core.Call, in GetIn) (GetIn, error) {
			live, err := a.overview(ctx, c.Principal.Org.ID)
			if err == nil {
				in.live = &live
			}
			in.silent = err != nil && !sending.IsAbsent(err)
			return in, nil
		},
		Do: a.getAccount,
	})
}

func (a *Account) getAccount(ctx context.Context, c *core.Call, in GetIn) (Overview, error) {
	org := c.Principal.Org
	overview := Overview{
		Org:  OrgRef{ID: org.ID, Name: org.Name, Slug: org.Slug},
		Plan: Plan{Tier: org.Tier, RetentionDays: org.RetentionDays, RateLimit: org.RateLimit}, Silent: in.silent,
	}
	if in.live != nil {
		overview.AWS = &CloudAccount{Region: in.live.Region, Sandbox: in.live.Sandbox}
		if in.live.AccountID != "" {
			overview.AWS.AccountID = &in.live.AccountID
		}
		overview.SendQuota = quotaOf(*in.live)
	}
	request, err := a.latestRequest(ctx, org.ID)
	if err != nil {
		return Overview{}, err
	}
	if request != nil {
		overview.ProductionAccess = &ProductionAccess{Status: string(request.Status), GrantedAt: request.GrantedAt}
	}
	overview.CloudFormation, err = a.recordedTemplate(ctx, org.ID)
	return overview, err
}

// recordedTemplate returns the customer's infrastructure template, for the results of
// operations. It returns nil if no template version is recorded.
func (a *Account) recordedTemplate(ctx context.Context, orgID string) (*InfraTemplate, error) {
	template, err := a.template(ctx, orgID)
	return recordedTemplate(template), err
}

func recordedTemplate(template *InfraTemplate) *InfraTemplate {
	if template == nil || template.TemplateVersion == 0 {
		return nil
	}
	return template
}

func quotaOf(o sending.Overview) *SendQuota {
	return &SendQuota{Max24Hour: max(0, o.Max24HourSend), MaxSendRate: max(0, o.MaxSendRate), SentLast24Hour: max(0, o.SentLast24Hours)}
}
