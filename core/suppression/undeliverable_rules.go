package suppression

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// RulesIn has no fields.
type RulesIn struct{}

// RulesDocument has an organization's rules for undeliverable addresses, the name of their
// profile, and their version, as callers see them.
type RulesDocument struct {
	Profile Profile `json:"profile" jsonschema:"enum=strict,enum=standard,enum=aggressive,enum=custom"`
	Version string  `json:"version" voice:"ours" jsonschema_description:"Changes exactly when the rules change; the list has it in X-Service-Rules-Version."`
	Rules   RuleSet `json:"rules"`
}

func (s *Suppression) undeliverableRules() core.Operation {
	return core.Declare(core.Op[RulesIn, RulesDocument]{
		Name:    "undeliverable_rules",
		Title:   "Read the rules of undeliverable addresses",
		Purpose: "Reads the rules that mark addresses as undeliverable, and their version.",
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.UndeliverableView},
		Do: func(ctx context.Context, c *core.Call, _ RulesIn) (RulesDocument, error) {
			rules, err := s.RuleStore.Rules(ctx, c.Principal.Org.ID)
			return RulesDocument{Profile: rules.Profile, Version: rules.Version(), Rules: rules.RuleSet}, err
		},
	})
}
