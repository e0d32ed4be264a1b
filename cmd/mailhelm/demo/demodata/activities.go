package demodata

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
)

// activityDays is the number of days over which the activities of the demo are spread.
const activityDays = 28

// promotedProperties returns the promoted properties of the demo's activities. Their ids
// are new at each call. now is their creation and update time.
func promotedProperties(now time.Time) []activities.Property {
	all := []activities.Property{
		{ActivityName: "purchase", Property: "amount_eur", Type: activities.NumberProperty, Description: "Price of the order, in euro."},
		{ActivityName: "purchase", Property: "coffee", Type: activities.StringProperty, Description: "The coffee that was bought."},
		{ActivityName: "tasting_booked", Property: "starts_at", Type: activities.DatetimeProperty, Description: "When the tasting begins."},
	}
	for i := range all {
		all[i].ID, all[i].Origin = core.NewID(), activities.Managed
		all[i].CreatedAt, all[i].UpdatedAt = now, now
	}
	return all
}

// activitiesOf returns what the people have done in the last activityDays: about every third
// person has bought a coffee, some visit the website or book a tasting.
func activitiesOf(people []person, now time.Time) []activities.Activity {
	chance := rand.New(rand.NewPCG(2611, 28)) //nolint:gosec // repeatable on purpose
	coffees := []string{"Sidamo", "Antigua", "Huila", "Monsooned Malabar"}
	var done []activities.Activity
	add := func(p person, name string, source activities.Source, properties string) {
		at := now.Add(-time.Duration(chance.Int64N(int64(activityDays * 24 * time.Hour)))).Truncate(time.Second)
		done = append(done, activities.Activity{
			ID: core.NewID(), ContactID: p.ID, Name: name, OccurredAt: at, ReceivedAt: at, Source: source, Properties: []byte(properties),
		})
	}
	for i, p := range people {
		if i%3 == 0 {
			add(p, "purchase", activities.FromAPI, fmt.Sprintf(
				`{"order":"F-%d","amount_eur":%.2f,"coffee":%q,"items":[{"sku":"bag-250","count":%d}],"gift":%v}`,
				5000+i, 8+chance.Float64()*40, coffees[chance.IntN(len(coffees))], 1+chance.IntN(4), i%9 == 0))
		}
		if i%4 == 1 {
			add(p, "brewing_guide_read", activities.FromSite, fmt.Sprintf(`{"guide":%q,"seconds":%d}`, []string{"pour-over", "espresso", "french-press"}[i%3], 20+chance.IntN(400)))
		}
		if i%11 == 2 {
			add(p, "tasting_booked", activities.FromAgent, fmt.Sprintf(`{"starts_at":%q,"guests":%d}`, now.AddDate(0, 0, 3+i%20).Format(time.RFC3339), 1+i%3))
		}
	}
	return done
}

// record stores the demo's promoted properties and activities.
func (s Seeder) record(ctx context.Context, orgID string, people []person) error {
	now := s.Clock()
	for _, p := range promotedProperties(now) {
		if err := s.DB.ActivityProperties().InsertProperty(ctx, orgID, p); err != nil {
			return fmt.Errorf("property %s: %w", p.Property, err)
		}
	}
	if err := s.openWebsite(ctx, orgID, now); err != nil {
		return err
	}
	return s.DB.Activities().Insert(ctx, orgID, append(activitiesOf(people, now), visitsOf(people, now)...))
}
