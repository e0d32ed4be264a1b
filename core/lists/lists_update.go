package lists

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// UpdateListIn changes the name or the description of a static list. Values that are not
// sent do not change.
type UpdateListIn struct {
	ID          string  `json:"id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id of the list, or its key."`
	Name        *string `json:"name,omitempty" jsonschema:"minLength=1,maxLength=128" jsonschema_description:"Name of the list, for people."`
	Description *string `json:"description,omitempty" jsonschema:"maxLength=500" jsonschema_description:"Which contacts are on it."`
	Key         string  `json:"key,omitempty" jsonschema_description:"Ignored: the key of a list never changes."`
}

func (l *Lists) listsUpdate() core.Operation {
	return core.Declare(core.Op[UpdateListIn, List]{
		Name:     "lists_update",
		Title:    "Change a static list",
		Purpose:  "Changes the name or the description of a static list. A list that a repository defines is refused with `conflict`. It changes neither the key nor the members.",
		Example:  `{"id": "newsletter", "name": "Newsletter", "description": "Signed up on the website or in the shop."}`,
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.ListsManage},
		Fails:    []core.Code{core.CodeNotFound},
		GitOwned: core.GitRefused,
		Do:       l.updateList,
	})
}

func (l *Lists) updateList(ctx context.Context, c *core.Call, in UpdateListIn) (List, error) {
	list, err := l.readManaged(ctx, c, in.ID)
	if err != nil {
		return List{}, err
	}
	if in.Name != nil {
		if list.Name = strings.TrimSpace(*in.Name); list.Name == "" {
			return List{}, core.Invalid("name", "must not be blank")
		}
	}
	if in.Description != nil {
		list.Description = *in.Description
	}
	list.UpdatedAt = c.Now
	return list, l.Store.UpdateList(ctx, c.Principal.Org.ID, list)
}

// readManaged returns a list that may be changed through the API. It fails with
// core.CodeConflict if a Git repository defines the list.
func (l *Lists) readManaged(ctx context.Context, c *core.Call, ref string) (List, error) {
	list, err := l.Store.List(ctx, c.Principal.Org.ID, ref)
	if err != nil {
		return List{}, err
	}
	c.SetSubject(list.ID)
	if list.Origin == core.GitOrigin {
		return List{}, core.RefuseGitOwned("list")
	}
	return list, nil
}
