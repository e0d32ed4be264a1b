package lists

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// CheckListMemberIn has the list and the contact whose membership is checked.
type CheckListMemberIn struct {
	ID      string `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the list, or its key."`
	Contact string `json:"contact" jsonschema:"minLength=1,maxLength=254" jsonschema_description:"Id of the contact, or its percent-encoded address."`
}

// Membership reports whether a contact is on a list.
type Membership struct {
	IsMember bool `json:"is_member"`
}

func (l *Lists) listsCheckMember() core.Operation {
	return core.Declare(core.Op[CheckListMemberIn, Membership]{
		Name:    "lists_check_member",
		Title:   "Check one contact's membership",
		Purpose: "Returns whether a contact is on a static list. An unknown contact is on no list. An unknown list is `not_found`.",
		Example: `{"id": "newsletter", "contact": "ada.almeida@example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.ListsView},
		Fails:   []core.Code{core.CodeNotFound},
		Do:      l.checkListMember,
	})
}

func (l *Lists) checkListMember(ctx context.Context, c *core.Call, in CheckListMemberIn) (Membership, error) {
	if err := core.CheckContactRef(in.Contact); err != nil {
		return Membership{}, err
	}
	org := c.Principal.Org.ID
	list, err := l.Store.List(ctx, org, in.ID)
	if err != nil {
		return Membership{}, err
	}
	is, err := l.Members.IsListMember(ctx, org, list.ID, in.Contact)
	return Membership{is}, err
}
