package catalogue_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
)

// The rules below hold for every operation there is and will be.

func TestEveryOperationIsWellNamed(t *testing.T) {
	t.Parallel()
	name := regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)
	seen := map[string]bool{}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		if !name.MatchString(info.Name) || seen[info.Name] {
			t.Errorf("%q is not a snake-case name of its own", info.Name)
		}
		seen[info.Name] = true
		if info.Title == "" || strings.HasSuffix(info.Title, ".") || !strings.HasSuffix(info.Purpose, ".") {
			t.Errorf("%s: title %q is a phrase, purpose %q whole sentences", info.Name, info.Title, info.Purpose)
		}
		for _, s := range info.Scopes {
			if !s.Known() {
				t.Errorf("%s needs the unknown scope %q", info.Name, s)
			}
		}
	}
}

func TestOnlyTheTwoThatCannotBeTakenBackConfirm(t *testing.T) {
	t.Parallel()
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		if info.Confirms != (info.Name == "broadcasts_send" || info.Name == "workflows_activate") {
			t.Errorf("%s: confirms = %v", info.Name, info.Confirms)
		}
	}
}

func TestEveryArgumentIsDescribed(t *testing.T) {
	t.Parallel()
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		for _, surface := range []core.Surface{core.REST, core.Agent} {
			var schema struct {
				Type                 string
				AdditionalProperties *bool
				Properties           map[string]struct{ Description string }
			}
			if err := json.Unmarshal(op.Input(surface).Text(), &schema); err != nil {
				t.Fatal(err)
			}
			if schema.Type != "object" || schema.AdditionalProperties == nil || *schema.AdditionalProperties {
				t.Errorf("%s: the %s input schema is not a closed object", op.Info().Name, surface)
			}
			for name, property := range schema.Properties {
				if property.Description == "" {
					t.Errorf("%s: %s argument %q has no description", op.Info().Name, surface, name)
				}
			}
		}
	}
}
