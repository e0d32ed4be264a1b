package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// ArchiveByExternalIDIn has the external id of the contact to archive.
type ArchiveByExternalIDIn struct {
	ExternalID string `json:"external_id" jsonschema:"minLength=1,maxLength=255" jsonschema_description:"Your own id of the contact. Percent-encode it in the path."`

	archive ArchiveContactIn
}

func (cs *Contacts) contactsArchiveByExternalID() core.Operation {
	return core.Declare(core.Op[ArchiveByExternalIDIn, ArchivedContact]{
		Name:    "contacts_archive_by_external_id",
		Title:   "Archive a contact by external id",
		Purpose: "Archives the contact with this external id like contacts_archive. An unknown or archived contact is no error. It erases no data.",
		Example: `{"external_id": "customer-1043"}`,
		Effect:  core.Destroys,
		Scopes:  []core.Scope{core.ContactsManage},
		Fails:   []core.Code{core.CodeUpstreamUnavailable},
		Writes:  core.OneContact,
		Prepare: func(ctx context.Context, c *core.Call, in ArchiveByExternalIDIn) (ArchiveByExternalIDIn, error) {
			var err error
			in.archive, err = cs.prepareArchive(ctx, c, ArchiveContactIn{ExternalID: in.ExternalID})
			return in, err
		},
		Do: func(ctx context.Context, c *core.Call, in ArchiveByExternalIDIn) (ArchivedContact, error) {
			return cs.archive(ctx, c, in.archive)
		},
	})
}
