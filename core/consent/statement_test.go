package consent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/sending"
)

// choices is a contact's choices about topics.
type choices = map[string]sending.Subscription

// TestStatementsLeaveChoicesInForce checks which earlier choices stay. The contact
//
//	has opted out of everything, out of "out" and into "in" before.
func TestStatementsLeaveChoicesInForce(t *testing.T) {
	t.Parallel()
	inForce := sending.Contact{UnsubscribeAll: true, Preferences: choices{"out": sending.OptOut, "in": sending.OptIn}}
	isSet, isRemoved := true, false
	for name, c := range map[string]struct {
		states consent.Statement
		keeps  consent.Earlier
		want   sending.Contact
	}{
		"nothing stated":               {consent.Statement{}, consent.KeepAll, inForce},
		"one choice":                   {stating("out", sending.OptIn), consent.KeepAll, sending.Contact{UnsubscribeAll: true, Preferences: choices{"out": sending.OptIn, "in": sending.OptIn}}},
		"all but opt-outs":             {stating("new", sending.OptIn), consent.KeepOptOuts, sending.Contact{UnsubscribeAll: true, Preferences: choices{"new": sending.OptIn, "out": sending.OptOut}}},
		"an opt-out that is withdrawn": {stating("out", sending.OptIn), consent.KeepOptOuts, sending.Contact{UnsubscribeAll: true, Preferences: choices{"out": sending.OptIn}}},
		"all choices":                  {stating("new", sending.OptIn), consent.KeepNone, sending.Contact{UnsubscribeAll: true, Preferences: choices{"new": sending.OptIn}}},
		"opt-out set again":            {consent.Statement{UnsubscribeAll: &isSet}, consent.KeepNone, sending.Contact{UnsubscribeAll: true, Preferences: choices{}}},
		"opt-out removed":              {consent.Statement{UnsubscribeAll: &isRemoved}, consent.KeepAll, sending.Contact{Preferences: inForce.Preferences}},
	} {
		if diff := cmp.Diff(c.want, c.states.Decide(inForce, c.keeps)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// stating returns a statement with one choice.
func stating(topic string, choice sending.Subscription) consent.Statement {
	return consent.Statement{Topics: choices{topic: choice}}
}
