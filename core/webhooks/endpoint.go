package webhooks

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/standardhooks"
)

// EventType is a type of event that endpoints receive.
type EventType string

// The types of events.
const (
	Sent         EventType = "sent"
	Delivered    EventType = "delivered"
	Bounced      EventType = "bounced"
	Complained   EventType = "complained"
	Opened       EventType = "opened"
	Clicked      EventType = "clicked"
	Unsubscribed EventType = "unsubscribed"
)

// EventTypes returns all types of events, in the order in which they usually happen.
func EventTypes() []EventType {
	return []EventType{Sent, Delivered, Bounced, Complained, Opened, Clicked, Unsubscribed}
}

const (
	// MaxEndpoints is the maximum number of endpoints of an organization.
	MaxEndpoints = 10
	// InFlight is the maximum number of deliveries that are sent to one endpoint at the same
	// time, by all processes together.
	InFlight = 4
	// Grace is how long the old secret of an endpoint signs beside the new one.
	Grace = 24 * time.Hour
	// FailingLimit is how long an endpoint may fail without any success before it is disabled.
	FailingLimit = 5 * 24 * time.Hour
	// Kept is how long deliveries are stored.
	Kept = 30 * 24 * time.Hour

	maxDescription = 200
)

// Endpoint is a URL that receives events.
type Endpoint struct {
	ID          string
	URL         string
	Description string
	Types       []EventType // sorted as by EventTypes
	Enabled     bool
	// Secret is the encrypted signing secret. Previous is the encrypted secret before the last
	// rotation, which also signs until PreviousUntil; nil if there is none.
	Secret, Previous []byte
	PreviousUntil    *time.Time
	// FailingSince is the time of the first failed attempt after the last success; nil if the
	// last attempt succeeded. If DisabledAt is not nil, Mailhelm then disabled the endpoint,
	// because it had failed for FailingLimit.
	FailingSince, DisabledAt *time.Time
	CreatedAt                time.Time
}

// IsInGrace reports whether the secret before the last rotation still signs.
func (e Endpoint) IsInGrace(now time.Time) bool {
	return e.PreviousUntil != nil && now.Before(*e.PreviousUntil)
}

// Settings are what a person chooses about an endpoint.
type Settings struct {
	URL         string
	Description string // may be empty
	Types       []EventType
	Enabled     bool
}

// check returns the settings in their stored form. It fails with core.CodeValidationFailed
// on the fields url, description and events.
func (s Settings) check(networks bool) (Settings, error) {
	s.URL, s.Description = strings.TrimSpace(s.URL), strings.TrimSpace(s.Description)
	if err := standardhooks.CheckURL(s.URL, networks); err != nil {
		return s, err
	}
	if s.Description != "" {
		if err := core.CheckLine("description", s.Description, maxDescription); err != nil {
			return s, err
		}
	}
	types, err := checkTypes(s.Types)
	s.Types = types
	return s, err
}

// checkTypes returns the types in the order of EventTypes, without repetitions. It fails for
// an unknown type and without any type.
func checkTypes(chosen []EventType) ([]EventType, error) {
	all := EventTypes()
	for _, t := range chosen {
		if !slices.Contains(all, t) {
			return nil, core.Invalid("events", "must not contain "+core.Quote(cutName(string(t)))+": choose from sent, delivered, bounced, complained, opened, clicked and unsubscribed")
		}
	}
	known := slices.DeleteFunc(all, func(t EventType) bool { return !slices.Contains(chosen, t) })
	if len(known) == 0 {
		return nil, core.Invalid("events", "must have at least one type: choose from sent, delivered, bounced, complained, opened, clicked and unsubscribed")
	}
	return known, nil
}

// cutName shortens the name of an unknown type, so that an error cannot be long.
func cutName(name string) string {
	const longest = 40
	if utf8.RuneCountInString(name) <= longest {
		return name
	}
	return string([]rune(name)[:longest])
}
