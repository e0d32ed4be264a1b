package activities

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// ListOfContactIn has the arguments for a list of one contact's activities: the contact,
// the filters, and the size and cursor of the page.
type ListOfContactIn struct {
	ID     string     `json:"id" jsonschema:"minLength=1,maxLength=320" jsonschema_description:"Id, address or external id of the contact."`
	Name   string     `json:"name,omitempty" jsonschema:"maxLength=200" jsonschema_description:"Only activities with exactly this name."`
	From   *time.Time `json:"from,omitempty" jsonschema_description:"Only activities at or after this time."`
	To     *time.Time `json:"to,omitempty" jsonschema_description:"Only activities before this time."`
	Limit  int        `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string     `json:"cursor,omitempty" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (a *Activities) contactsListActivities() core.Operation {
	return core.Declare(core.Op[ListOfContactIn, Page]{
		Name:    "contacts_list_activities",
		Title:   "List the activities of a contact",
		Purpose: "Pages through what one contact did, newest first, with filters. An unknown contact is `not_found`.",
		Example: `{"id": "ada.almeida@example.com", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.ActivitiesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in ListOfContactIn) (Page, error) {
			id, err := a.contact(ctx, c, in.ID)
			if err != nil {
				return Page{}, err
			}
			return a.page(ctx, c, query{
				Filter: Filter{Name: in.Name, ContactID: id, From: in.From, To: in.To},
				of:     "of " + id, cursor: in.Cursor, limit: core.Limit(in.Limit),
			})
		},
	})
}

// contact returns the id of the contact that reference names: an id, an address or an
// external id. It fails with core.CodeNotFound if no contact matches.
func (a *Activities) contact(ctx context.Context, c *core.Call, reference string) (string, error) {
	id, err := a.Store.ContactByReference(ctx, c.Principal.Org.ID, reference)
	if err == nil && id == "" {
		return "", core.NotFound("contact")
	}
	return id, err
}
