package topics

import (
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Topic is a subject to which contacts subscribe. The sending account stores its
// definition. Mailhelm's copy also has the origin and the times of creation and last
// change.
type Topic struct {
	Name        string               `json:"name" voice:"untrusted"`
	DisplayName string               `json:"display_name" voice:"untrusted"`
	Description string               `json:"description" voice:"untrusted"`
	Default     sending.Subscription `json:"default_subscription_status" jsonschema:"enum=OPT_IN,enum=OPT_OUT"`
	Origin      core.Origin          `json:"origin" jsonschema:"enum=managed,enum=git"`
	Status      string               `json:"status" jsonschema:"enum=active,enum=archived"`
	CreatedAt   time.Time            `json:"created_at"`
	UpdatedAt   time.Time            `json:"updated_at"`
}

// statusActive is the status of every topic that the sending account has.
const statusActive = "active"

// ContactList is Mailhelm's copy of the name, description and times of the sending
// account's contact list. The first sync creates it.
type ContactList struct {
	Name         string
	Description  string
	LastSyncedAt time.Time
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// indexOfTopic returns the index of the topic with the name, or -1 if there is none.
func indexOfTopic(topics []sending.Topic, name string) int {
	return slices.IndexFunc(topics, func(t sending.Topic) bool { return t.Name == name })
}
