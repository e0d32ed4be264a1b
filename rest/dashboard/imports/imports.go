package imports

import (
	"context"
	"embed"
	"io"

	"github.com/mailhelm/mailhelm/core/contactupload"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var templates embed.FS

// Path is the path of the page with the form for a file and all imports.
const Path = frame.Path + "/contacts/import"

// newContactPath is the path of the form for a single contact.
const newContactPath = frame.Path + "/contacts/new"

// Uploads stores, checks and imports uploaded contact files. StartCheck, StartImport, Stop and
// Discard run in the transaction of ctx.
type Uploads interface {
	Receive(ctx context.Context, orgID, userID, fileName string, file io.Reader) (contactupload.Upload, error)
	Upload(ctx context.Context, orgID, id string) (contactupload.Upload, error)
	Uploads(ctx context.Context, orgID string) ([]contactupload.Upload, error)
	StartCheck(ctx context.Context, orgID, id string, settings contactupload.Settings) error
	StartImport(ctx context.Context, orgID, userID, id, check string) error
	Stop(ctx context.Context, orgID, id string) error
	Discard(ctx context.Context, orgID, id string) error
	WriteRejected(ctx context.Context, orgID, id string, to io.Writer) error
	MaxRejectedBytes() int
	AttributeNames(ctx context.Context, orgID string) ([]string, error)
}

// Topics reads the stored topics, which columns may set.
type Topics interface {
	Topics(ctx context.Context, orgID string) ([]topics.Topic, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Uploads Uploads
	Topics  Topics
	// Actors names who uploaded a file and who imported it.
	Actors actors.Actors
}

// Imports has the pages that import contacts; see dashboard.Room.
type Imports struct {
	Config
	*frame.Pages
}

// New returns the pages of this package. It fails if the templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Imports, error) {
	pages, err := f.Pages(templates)
	if err != nil {
		return nil, err
	}
	return &Imports{cfg, pages}, nil
}

// multipartRest is the number of bytes of a request beside the file: the token and the
// boundaries.
const multipartRest = 64 << 10

// Routes returns the routes of all pages of this package.
func (h *Imports) Routes() []frame.Route {
	manage := members.MayManageContacts
	return []frame.Route{
		// The request may be larger than a file, so that a file above the limit is refused by
		// its own text.
		{Path: "/contacts/import", Needs: manage, Get: h.showImports, Upload: h.receive, MaxUpload: contactupload.MaxUpload + 1<<20 + multipartRest},
		{Path: "/contacts/import/file/{id}", Needs: manage, Get: h.showImport},
		{Path: "/contacts/import/file/{id}/columns", Needs: manage, Get: h.showColumns, Post: h.check},
		{Path: "/contacts/import/file/{id}/start", Needs: manage, Post: h.start},
		{Path: "/contacts/import/file/{id}/stop", Needs: manage, Post: h.stop},
		{Path: "/contacts/import/file/{id}/discard", Needs: manage, Post: h.discard},
		{Path: "/contacts/import/file/{id}/rejected.csv", Needs: manage, Get: h.sendRejected},
	}
}

func pathOf(up contactupload.Upload) string { return Path + "/file/" + up.ID }
