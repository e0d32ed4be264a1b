package activities

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// SummarizeIn names the contact whose activities are summarized.
type SummarizeIn struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=320" jsonschema_description:"Id, address or external id of the contact."`
}

func (a *Activities) contactsSummarizeActivities() core.Operation {
	return core.Declare(core.Op[SummarizeIn, core.Collection[Summary]]{
		Name:    "contacts_summarize_activities",
		Title:   "Summarize the activities of a contact",
		Purpose: "Counts the activities of one contact, one row for each name, the most recent first. An unknown contact is `not_found`.",
		Example: `{"id": "ada.almeida@example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Scopes:  []core.Scope{core.ActivitiesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in SummarizeIn) (core.Collection[Summary], error) {
			id, err := a.contact(ctx, c, in.ID)
			if err != nil {
				return core.Collection[Summary]{}, err
			}
			rows, err := a.Store.Summaries(ctx, c.Principal.Org.ID, id, Since{
				Recent: c.Now.AddDate(0, 0, -30), Received: keptSince(c.Now, c.Principal.Org.RetentionDays),
			})
			if rows == nil {
				rows = []Summary{}
			}
			return core.Collection[Summary]{Data: rows}, err
		},
	})
}
