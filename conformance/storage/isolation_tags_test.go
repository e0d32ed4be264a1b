package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/storage"
)

// broadcastOfTags is the id of the owner's broadcast with a tag.
const broadcastOfTags = "01900000-0000-7000-8000-00000000b04d"

// ownTags gives the organization a tag, which is on its managed template and on a
// broadcast, and mail settings.
func (o *ownedObjects) ownTags(t *testing.T, db *storage.DB) {
	t.Helper()
	o.tag = tags.Tag{ID: core.NewID(), Name: "same", Color: "#2563eb", CreatedAt: start}
	must(t, db.Tags().InsertTag(t.Context(), o.org, o.tag))
	must(t, db.Tags().SetTemplateTags(t.Context(), o.org, o.managed.ID, []string{o.tag.ID}))
	must(t, db.MailSettings().SaveMailSettings(t.Context(), o.org, mailSettingsOf("owned")))
	must(t, db.Tags().SetBroadcastTags(t.Context(), o.org, broadcastOfTags, []string{o.tag.ID}))
}

// tagState returns the organization's tags, and those of its template and broadcast.
func (o ownedObjects) tagState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	var seen []any
	for _, method := range []string{"Tag", "TagsOfTemplates", "TagsOfBroadcasts", "MailSettings"} {
		found, err := tagCalls(o, o.org)[method](t, db)
		must(t, err)
		seen = append(seen, found)
	}
	return seen
}

// mailSettingsOf returns settings with a postal address of the organization.
func mailSettingsOf(address string) mailsettings.Settings {
	s := mailsettings.Default()
	s.PostalAddress, s.UpdatedAt = address, start
	return s
}

func tagCalls(o ownedObjects, org string) map[string]storeCall {
	stolen := o.tag
	stolen.Name = "stolen"
	return map[string]storeCall{
		"SaveMailSettings": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.MailSettings().SaveMailSettings(t.Context(), org, mailSettingsOf("stolen"))
		},
		"MailSettings": func(t *testing.T, db *storage.DB) (any, error) {
			found, err := db.MailSettings().MailSettings(t.Context(), org)
			return found.PostalAddress == mailSettingsOf("owned").PostalAddress, err
		},
		"Tags": func(t *testing.T, db *storage.DB) (any, error) { return db.Tags().Tags(t.Context(), org, nil, 10) },
		"Tag":  func(t *testing.T, db *storage.DB) (any, error) { return db.Tags().Tag(t.Context(), org, o.tag.ID) },
		"InsertTag": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Tags().InsertTag(t.Context(), org, tags.Tag{ID: core.NewID(), Name: o.tag.Name, CreatedAt: start})
		},
		"UpdateTag": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Tags().UpdateTag(t.Context(), org, stolen)
		},
		"SetTemplateTags": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Tags().SetTemplateTags(t.Context(), org, o.managed.ID, []string{o.tag.ID})
		},
		"TagsOfTemplates": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Tags().TagsOfTemplates(t.Context(), org, []string{o.managed.ID})
		},
		"SetBroadcastTags": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.Tags().SetBroadcastTags(t.Context(), org, broadcastOfTags, []string{o.tag.ID})
		},
		"TagsOfBroadcasts": func(t *testing.T, db *storage.DB) (any, error) {
			return db.Tags().TagsOfBroadcasts(t.Context(), org, []string{broadcastOfTags})
		},
	}
}
