package assets

import (
	"context"
	"embed"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

//go:embed pages/*.html
var pages embed.FS

// Path is the path of the list.
const Path = frame.Path + "/assets"

const (
	title         = "Images"
	templatesPath = frame.Path + "/templates"
	// maxShown is the size of the largest image of which the list shows a picture, in bytes.
	maxShown = 512 << 10
)

// Config configures the pages. All fields are required.
type Config struct {
	// Content returns the content of the image at a path.
	Content func(ctx context.Context, orgID, path string) ([]byte, error)
	// Uses returns the templates that name images.
	Uses func(ctx context.Context, orgID string) ([]templates.ImageUse, error)
	// Published is true if the installation has an asset address.
	Published bool
}

// Room has the pages about images; see dashboard.Room.
type Room struct {
	cfg Config
	*frame.Pages
}

// New returns the pages of this package. It fails if their templates cannot be read.
func New(f *frame.Frame, cfg Config) (*Room, error) {
	own, err := f.Pages(pages)
	if err != nil {
		return nil, err
	}
	return &Room{cfg, own}, nil
}

// Routes returns the routes of the pages.
func (h *Room) Routes() []frame.Route {
	return []frame.Route{
		{Path: "/assets", Needs: members.MayViewContent, Get: h.list},
		{Path: "/assets/{id}/picture", Needs: members.MayViewContent, Get: h.picture},
	}
}

// imageRow is the data of one image in the list. Picture is "" if the image is too large to be shown.
type imageRow struct {
	Path       string
	Picture    string
	Tag        string
	Kind, Size string
	Pixels     string
	Uses       []frame.Link
}

// listPage is the data of the list.
type listPage struct {
	Rows      []imageRow
	Empty     frame.Empty
	Pager     frame.Pager
	Published bool
}

// kinds are the names of content types.
var kinds = map[string]string{"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WebP", "image/svg+xml": "SVG"}

// list shows a page of the list.
func (h *Room) list(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	arguments := map[string]any{"limit": frame.PageSize}
	if cursor := r.URL.Query().Get(frame.ParamCursor); cursor != "" {
		arguments["cursor"] = cursor
	}
	var found frame.List[assets.Asset]
	if err := h.Read(r, v, "assets_list", arguments, &found); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	uses, err := h.cfg.Uses(r.Context(), v.Org.ID)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	data := listPage{Published: h.cfg.Published, Pager: frame.PagerOf(Path, r.URL.Query(), len(found.Data), found.Next(), -1), Empty: frame.Empty{
		Text: "There are no images. They come with a bundle or from the connected repository, and templates show them.", Guide: h.Guide("/guides/images", "Put images into mail"),
	}}
	for _, a := range found.Data {
		data.Rows = append(data.Rows, h.rowOf(a, uses))
	}
	frame.AllowMailFrames(w)
	h.Show(w, r, v, http.StatusOK, frame.Screen{Page: "assets", Title: title, Data: data, Head: frame.Head{
		Title: title, Lead: "Images that templates show. They come with bundles and from the connected repository.",
	}})
}

func (h *Room) rowOf(a assets.Asset, uses []templates.ImageUse) imageRow {
	row := imageRow{
		Path: frame.PlainName(a.SourcePath), Tag: handlebars.AssetTag(a.SourcePath), Kind: kinds[a.ContentType], Size: kilobytes(a.SizeBytes),
		Pixels: "unknown",
	}
	if a.Width > 0 {
		row.Pixels = strconv.Itoa(a.Width) + " × " + strconv.Itoa(a.Height)
	}
	if a.SizeBytes <= maxShown {
		row.Picture = Path + "/" + url.PathEscape(a.ID) + "/picture"
	}
	for _, use := range uses {
		if slices.Contains(use.Paths, a.SourcePath) {
			row.Uses = append(row.Uses, frame.Link{Path: templatesPath + "/" + url.PathEscape(use.Slug), Name: use.Slug})
		}
	}
	return row
}

// kilobytes returns a size in kB, rounded up.
func kilobytes(bytes int) string { return core.WithCommas((bytes+999)/1000) + " kB" }

// picture writes a page for a frame that shows an image. The image is part of the page, so that it needs
// no address, and the frame has a policy under which an SVG image runs nothing.
func (h *Room) picture(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	if !frame.IsForFrame(r) {
		http.Redirect(w, r, Path, http.StatusSeeOther)
		return
	}
	var a assets.Detail
	if err := h.Read(r, v, "assets_get", map[string]any{"id": r.PathValue("id")}, &a); err != nil {
		h.Fail(w, r, v, err)
		return
	}
	if a.SizeBytes > maxShown || kinds[a.ContentType] == "" {
		http.Redirect(w, r, Path, http.StatusSeeOther)
		return
	}
	content, err := h.cfg.Content(r.Context(), v.Org.ID, a.SourcePath)
	if err != nil {
		h.Fail(w, r, v, err)
		return
	}
	frame.WriteMail(w, pictureStart+`<img src="data:`+a.ContentType+`;base64,`+base64.StdEncoding.EncodeToString(content)+`" alt="">`)
}

// pictureStart is the beginning of the page in a frame. Squares behind the image show where it is
// transparent.
const pictureStart = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Image</title><style>` +
	`html,body{margin:0;height:100%}body{display:flex;align-items:center;justify-content:center;background:#fff repeating-conic-gradient(#e8e8e8 0 25%,#fff 0 50%) 0 0/12px 12px}` +
	`img{max-width:100%;max-height:100%}</style></head><body>`
