package tags

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// The limits of tags.
const (
	// MaxTags is the maximum number of tags of an organization.
	MaxTags = 500
	// MaxName is the maximum length of the name of a tag, in characters.
	MaxName = 60
	// MaxOfOne is the maximum number of tags of one template or broadcast.
	MaxOfOne = 20
)

// hexColor matches a color as tags store it.
var hexColor = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// Wording is what a person may change of a tag.
type Wording struct{ Name, Color string }

// checked returns the wording as it is stored. It fails with core.CodeValidationFailed for
// a name or a color that a tag cannot have.
func (w Wording) checked() (Wording, error) {
	w.Name, w.Color = strings.TrimSpace(w.Name), strings.ToLower(w.Color)
	if err := core.CheckLine("name", w.Name, MaxName); err != nil {
		return w, err
	}
	if !hexColor.MatchString(w.Color) {
		return w, core.Invalid("color", "must be hexadecimal, such as #2563eb")
	}
	return w, nil
}

// Create stores a new tag. It fails with core.CodeValidationFailed for an invalid name or
// color, and with core.CodeConflict if the name is taken or the organization has [MaxTags]
// tags.
func (t *Tags) Create(ctx context.Context, orgID string, w Wording) (Tag, error) {
	w, err := w.checked()
	if err != nil {
		return Tag{}, err
	}
	n, err := t.Store.CountTags(ctx, orgID)
	if err != nil {
		return Tag{}, err
	}
	if n >= MaxTags {
		return Tag{}, core.Conflict(fmt.Sprintf("The organization has %d tags, and at most %d are allowed.", n, MaxTags), "Delete a tag that is no longer used.")
	}
	created := Tag{ID: core.NewID(), Name: w.Name, Color: w.Color, CreatedAt: t.Clock()}
	return created, t.Store.InsertTag(ctx, orgID, created)
}

// Edit replaces the name and the color of a tag, and returns the tag before and after the
// change. It fails with core.CodeNotFound for an unknown id, and otherwise as Create does.
func (t *Tags) Edit(ctx context.Context, orgID, id string, w Wording) (before, after Tag, err error) {
	if w, err = w.checked(); err != nil {
		return before, after, err
	}
	if before, err = t.Store.Tag(ctx, orgID, id); err != nil {
		return before, after, err
	}
	after = before
	after.Name, after.Color = w.Name, w.Color
	return before, after, t.Store.UpdateTag(ctx, orgID, after)
}

// Delete deletes a tag, and removes it from all templates and broadcasts. It returns the
// deleted tag, and fails with core.CodeNotFound for an unknown id.
func (t *Tags) Delete(ctx context.Context, orgID, id string) (Tag, error) {
	before, err := t.Store.Tag(ctx, orgID, id)
	if err != nil {
		return Tag{}, err
	}
	return before, t.Store.DeleteTag(ctx, orgID, id)
}

// SetOfTemplate replaces the tags of a template, which must exist. Ids of tags that were
// deleted since are skipped. It fails with core.CodeValidationFailed for more than
// [MaxOfOne] tags.
func (t *Tags) SetOfTemplate(ctx context.Context, orgID, templateID string, tagIDs []string) error {
	if err := CheckNumber(tagIDs); err != nil {
		return err
	}
	return t.Store.SetTemplateTags(ctx, orgID, templateID, tagIDs)
}

// newColor is the color of tags that bundles create, which name no colors.
const newColor = "#64748b"

// CheckName fails with core.CodeValidationFailed for a text that cannot be the name of a tag.
func CheckName(name string) error {
	if name != strings.TrimSpace(name) {
		return core.Invalid("tags", "has "+core.Quote(name)+", which begins or ends with a space")
	}
	return core.CheckLine("tags", name, MaxName)
}

// SetNamesOfTemplate replaces the tags of a template by those with the names, and creates the tags that
// do not exist.
func (t *Tags) SetNamesOfTemplate(ctx context.Context, orgID, templateID string, names []string) error {
	all, err := t.Store.Tags(ctx, orgID, nil, MaxTags)
	if err != nil {
		return err
	}
	ids := make([]string, 0, len(names))
	for _, name := range names {
		if at := slices.IndexFunc(all, func(tag Tag) bool { return tag.Name == name }); at >= 0 {
			ids = append(ids, all[at].ID)
			continue
		}
		created, err := t.Create(ctx, orgID, Wording{Name: name, Color: newColor})
		if err != nil {
			return err
		}
		all = append(all, created)
		ids = append(ids, created.ID)
	}
	return t.SetOfTemplate(ctx, orgID, templateID, ids)
}

// SetOfBroadcast replaces the tags of a broadcast, as SetOfTemplate does those of a template.
func (t *Tags) SetOfBroadcast(ctx context.Context, orgID, broadcastID string, tagIDs []string) error {
	if err := CheckNumber(tagIDs); err != nil {
		return err
	}
	return t.Store.SetBroadcastTags(ctx, orgID, broadcastID, tagIDs)
}

// CheckNumber refuses more than [MaxOfOne] different tags of one template or broadcast, as
// a fault of the field tags.
func CheckNumber(tagIDs []string) error {
	if n := len(slices.Compact(slices.Sorted(slices.Values(tagIDs)))); n > MaxOfOne {
		return core.Invalid("tags", fmt.Sprintf("has %d tags; at most %d are allowed", n, MaxOfOne))
	}
	return nil
}

// All returns all tags of an organization, sorted by name.
func (t *Tags) All(ctx context.Context, orgID string) ([]Tag, error) {
	all, err := t.Store.Tags(ctx, orgID, nil, MaxTags)
	slices.SortFunc(all, func(a, b Tag) int { return strings.Compare(a.Name, b.Name) })
	return all, err
}

// OfTemplate returns the tags of a template, sorted by name.
func (t *Tags) OfTemplate(ctx context.Context, orgID, templateID string) ([]Ref, error) {
	found, err := t.Store.TagsOfTemplates(ctx, orgID, []string{templateID})
	return found[templateID], err
}

// OfBroadcast returns the tags of a broadcast, sorted by name.
func (t *Tags) OfBroadcast(ctx context.Context, orgID, broadcastID string) ([]Ref, error) {
	found, err := t.Store.TagsOfBroadcasts(ctx, orgID, []string{broadcastID})
	return found[broadcastID], err
}
