package demodata

import (
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending"
)

// The lists by key.
const (
	newsletterList = "newsletter"
	wholesaleList  = "wholesale-partners"
	tastingList    = "tasting-club"
	testersList    = "app-testers"
)

// plans are the possible values of the attribute subscription.
var plans = []string{"none", "monthly", "quarterly", "yearly"}

// registeredAttributes returns the attribute definitions of the demo, which cover every
// type. Their ids are new at each call. now is their creation and update time.
func registeredAttributes(now time.Time) []attributes.Attribute {
	all := []attributes.Attribute{
		{Name: "first_name", Type: attributes.String, Description: "Given name."},
		{Name: "last_name", Type: attributes.String, Description: "Family name."},
		{Name: "city", Type: attributes.String, Description: "City of the delivery address."},
		{Name: "subscription", Type: attributes.Enum, EnumValues: plans, Description: "Coffee subscription, by how it is paid."},
		{Name: "orders", Type: attributes.Number, Description: "Orders so far."},
		{Name: "spent_eur", Type: attributes.Number, Description: "Money spent so far, in euro."},
		{Name: "wholesale", Type: attributes.Bool, Description: "Buys for a shop or an office."},
		{Name: "last_order_at", Type: attributes.Datetime, Description: "When the last order was placed."},
	}
	for i := range all {
		all[i].ID, all[i].Origin = core.NewID(), core.ManagedOrigin
		all[i].CreatedAt, all[i].UpdatedAt = now, now
	}
	return all
}

// staticLists returns the demo's lists. Their ids are new at each call, so the field
// person.lists refers to them by key.
func staticLists(now time.Time) []lists.List {
	all := []lists.List{
		{Key: newsletterList, Name: "Newsletter", Description: "Signed up on the website.", Source: "ui"},
		{Key: wholesaleList, Name: "Wholesale partners", Description: "Cafés, shops and offices.", Source: "import"},
		{Key: tastingList, Name: "Tasting club", Description: "Invited to the monthly tasting.", Source: "ui"},
		{Key: testersList, Name: "App testers", Description: "Try the ordering app before the others.", Source: "api"},
	}
	for i := range all {
		all[i].ID, all[i].Origin, all[i].Status = core.NewID(), core.ManagedOrigin, "active"
		all[i].CreatedAt, all[i].UpdatedAt = now, now
	}
	return all
}

// accountTopics are the topics of the demo's contact list. Some are opt-in by default, some
// opt-out.
var accountTopics = []sending.Topic{
	{Name: "product-news", DisplayName: "New coffees", Description: "What is new in the shop.", Default: sending.OptIn},
	{Name: "brewing-tips", DisplayName: "Brewing tips", Description: "Recipes and how-tos, twice a month.", Default: sending.OptIn},
	{Name: "offers", DisplayName: "Offers", Description: "Discounts and last bags.", Default: sending.OptOut},
	{Name: "events", DisplayName: "Tastings and events", Description: "What happens in the roastery.", Default: sending.OptOut},
	{Name: "order-updates", DisplayName: "Order updates", Description: "Where an order is.", Default: sending.OptIn},
}

// segmentDefinitions returns the demo's segments. Their expressions use events, attributes
// and dates, as examples.
func segmentDefinitions() []segments.Definition {
	all := []segments.Definition{
		{Key: "engaged-readers", Name: "Engaged readers", Description: "Open what they get.", Source: `count(open within 30d) >= 2 and not unsubscribed from all`},
		{Key: "good-customers", Name: "Good customers", Description: "Spend a lot, by the piece or in all.", Source: `attr.spent_eur >= 300 or attr.orders >= 10`},
		{Key: "quiet-wholesale", Name: "Quiet wholesale partners", Description: "Have not ordered for two months.", Source: `attr.wholesale = true and now - attr.last_order_at > 60d`},
	}
	for i := range all {
		all[i].Origin = segments.Managed
	}
	return all
}
