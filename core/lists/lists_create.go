package lists

import (
	"context"
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// maxLists is the maximum number of static lists of an organization. Concurrent creations
// may exceed it by a few.
const maxLists = 1000

// CreateListIn has the definition of a new static list.
type CreateListIn struct {
	Name        string `json:"name" jsonschema:"minLength=1,maxLength=128" jsonschema_description:"Name of the list, for people."`
	Key         string `json:"key,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Slug, unique in the organization, which never changes. Default: derived from the name."`
	Description string `json:"description,omitempty" jsonschema:"maxLength=500" jsonschema_description:"Which contacts are on it."`
}

func (l *Lists) listsCreate() core.Operation {
	return core.Declare(core.Op[CreateListIn, List]{
		Name:     "lists_create",
		Title:    "Create a static list",
		Purpose:  "Creates an empty static list. It refuses with `conflict` if a list has the key, even one that a repository defines. It adds no contacts to the list.",
		Example:  `{"name": "Spring tasting", "description": "Signed up for the tasting in May."}`,
		Effect:   core.Writes,
		Scopes:   []core.Scope{core.ListsManage},
		GitOwned: core.GitRefused,
		Do:       l.createList,
	})
}

func (l *Lists) createList(ctx context.Context, c *core.Call, in CreateListIn) (List, error) {
	name := strings.TrimSpace(in.Name)
	if name == "" {
		return List{}, core.Invalid("name", "must not be blank")
	}
	key := in.Key
	if key == "" {
		if key = slugOf(name); key == "" {
			return List{}, core.Invalid("key", "is required, because the name has no letter or digit from which to derive it")
		}
	}
	if err := checkKey(key); err != nil {
		return List{}, err
	}
	org := c.Principal.Org.ID
	count, err := l.Store.CountLists(ctx, org, "")
	if err != nil {
		return List{}, err
	}
	if count >= maxLists {
		return List{}, core.Invalid("name", fmt.Sprintf("would exceed the limit of %d lists; delete one first", maxLists))
	}
	made := List{
		ID: core.NewID(), Key: key, Name: name, Description: in.Description, Source: sourceOf(c.Surface), Origin: core.ManagedOrigin, Status: statusActive,
		CreatedAt: c.Now, UpdatedAt: c.Now,
	}
	c.SetSubject(made.ID)
	return made, l.Store.InsertList(ctx, org, made)
}

// sourceOf returns the source of a list that is created through a surface.
func sourceOf(s core.Surface) string {
	if s == core.Dashboard {
		return "ui"
	}
	return "api"
}
