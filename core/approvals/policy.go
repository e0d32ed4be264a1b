package approvals

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
)

// Rule says which sends wait for a person.
type Rule string

// The rules.
const (
	// Inherit is the rule of an application without a policy: that of the organization.
	Inherit Rule = ""
	Never   Rule = "never"
	Always  Rule = "always"
	// AboveSize: sends to an audience with more members than Policy.Above.
	AboveSize Rule = "above"
	// OutsideLists: sends to an audience that is not one of Policy.Lists. A segment is never
	// one of them.
	OutsideLists Rule = "outside_lists"
)

const (
	// maxAbove is the maximum of Policy.Above.
	maxAbove = 100_000_000
	// maxLists is the maximum number of lists that a policy names.
	maxLists = 100
)

// Policy says which sends of an organization, or of one of its applications, wait for a
// person.
type Policy struct {
	// Application is the id of an OAuth client, "" for the policy of the organization. The
	// policy of an application replaces that of the organization for what it sends.
	Application string
	Rule        Rule
	// Above is the largest audience, in members, that needs no approval under AboveSize.
	Above int
	// Lists are the ids of the lists that need no approval under OutsideLists.
	Lists []string
	// AlsoPeople applies the rule of the organization to people on the dashboard too.
	AlsoPeople bool
	UpdatedAt  time.Time
	UpdatedBy  string
}

// Holds reports whether a send waits whose audience is a list or, if isList is false, a
// segment. id is the id of the audience, and size returns the number of its members.
func (p Policy) Holds(isList bool, id string, size func() (int, error)) (bool, error) {
	switch p.Rule {
	case Always:
		return true, nil
	case AboveSize:
		n, err := size()
		return n > p.Above, err
	case OutsideLists:
		return !isList || !slices.Contains(p.Lists, id), nil
	}
	return false, nil
}

// PolicyFor returns the policy, of all of an organization, that applies to what a caller
// sends.
func PolicyFor(all []Policy, by Caller) Policy {
	organization, own := Policy{Rule: Never}, Policy{}
	for _, p := range all {
		switch p.Application {
		case "":
			organization = p
		case by.ID:
			own = p
		}
	}
	switch by.Kind {
	case core.Person:
		if !organization.AlsoPeople {
			return Policy{Rule: Never}
		}
	case core.OAuthClient:
		if own.Rule != Inherit {
			return own
		}
	case core.APIKey:
	}
	return organization
}

// check returns the faults of a policy, as fields of the form that states it.
func (p Policy) check() error {
	switch p.Rule {
	case Never, Always:
		return nil
	case Inherit:
		if p.Application != "" {
			return nil
		}
	case AboveSize:
		if p.Above < 1 || p.Above > maxAbove {
			return core.Invalid("above", fmt.Sprintf("must be from 1 to %d", maxAbove))
		}
		return nil
	case OutsideLists:
		if len(p.Lists) == 0 {
			return core.Invalid("lists", "must name at least one list; choose the rule that all sends wait instead")
		}
		if len(p.Lists) > maxLists {
			return core.Invalid("lists", fmt.Sprintf("must name at most %d lists", maxLists))
		}
		return nil
	}
	return core.Invalid("rule", "must be never, always, above or outside_lists")
}

// Policies changes the policies of organizations. All fields are required.
type Policies struct {
	Store PolicyStore
	Audit access.AuditAppender
	Clock core.Clock
}

// Set stores a policy; the rule [Inherit] removes that of an application. Call it in a
// transaction that checks the permission of the person by. It fails with
// core.CodeValidationFailed for a policy that is not valid.
func (s Policies) Set(ctx context.Context, by access.Actor, orgID string, p Policy) error {
	if err := p.check(); err != nil {
		return err
	}
	if p.Rule != AboveSize {
		p.Above = 0
	}
	if p.Rule != OutsideLists {
		p.Lists = nil
	}
	p.AlsoPeople = p.AlsoPeople && p.Application == ""
	p.UpdatedAt, p.UpdatedBy = s.Clock(), by.ID
	if err := s.Store.SavePolicy(ctx, orgID, p); err != nil {
		return err
	}
	return access.RecordAudit(ctx, s.Audit, p.UpdatedAt, access.AuditEntry{
		Actor: by, OrgID: orgID, Action: "send.policy_updated", Subject: p.Application,
		Detail: map[string]any{"rule": string(p.Rule), "above": p.Above, "lists": len(p.Lists), "also_people": p.AlsoPeople},
	})
}
