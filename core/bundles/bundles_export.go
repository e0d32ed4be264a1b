package bundles

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
)

// ExportIn has no members.
type ExportIn struct{}

// Exported is a bundle. [Exported.AppendJSON] and [Exported.Archive] are its forms, and the members
// Manifest, Files and Images only describe the first: a bundle can be so large that it should not be in
// memory twice.
type Exported struct {
	Manifest json.RawMessage   `json:"manifest" voice:"untrusted" jsonschema_description:"Content of mailhelm.json, which names the files of all definitions."`
	Files    map[string]string `json:"files" voice:"untrusted" jsonschema_description:"Contents of the other text files, by path."`
	Images   map[string]string `json:"images" voice:"untrusted" jsonschema_description:"Contents of images in base64, by path."`
	Omitted  []string          `json:"omitted" voice:"ours" jsonschema_description:"Sections that the credential may not read."`

	tree   archive.Tree
	images map[string]bool
}

// Archive returns the bundle as a zip archive, without Omitted.
func (e Exported) Archive() ([]byte, error) {
	var b bytes.Buffer
	err := archive.WriteZip(&b, e.tree)
	return b.Bytes(), err
}

// AppendJSON appends the bundle as JSON. It does not escape "<", ">" and "&", so that the manifest has
// the same bytes in both forms, apart from space.
func (e Exported) AppendJSON(b []byte) ([]byte, error) {
	omitted, err := json.Marshal(e.Omitted)
	if err != nil {
		return nil, err
	}
	if b, err = archive.AppendDocument(append(b, '{'), e.tree, e.images); err != nil {
		return nil, err
	}
	return append(append(append(b, `,"omitted":`...), omitted...), '}'), nil
}

// HeaderValue returns the omitted sections, separated by commas.
func (e Exported) HeaderValue() string { return strings.Join(e.Omitted, ", ") }

func (b *Bundles) bundlesExport() core.Operation {
	return core.Declare(core.Op[ExportIn, Exported]{
		Name:    "bundles_export",
		Title:   "Export the definitions",
		Purpose: "Returns attributes, activity properties, lists, segments, topics, images, templates and workflows as the files of a bundle: as JSON, or as a zip archive with `Accept: application/zip`. Sections that the credential may not read are left out and named in `omitted`. Equal definitions give equal bytes. It returns no contacts, memberships or consent.",
		Effect:  core.Reads,
		Cost:    core.Heavy,
		Fails:   []core.Code{core.CodeInvalidScope, core.CodeConflict},
		Do:      b.export,
	})
}

func (b *Bundles) export(ctx context.Context, c *core.Call, _ ExportIn) (Exported, error) {
	held, omitted, err := b.readAllowed(ctx, c.Principal.Org.ID, c.Principal.Scopes)
	if err != nil {
		if e := core.AsError(err); e.Code == core.CodeConflict && e.Err != nil { // the operator can mend it
			b.Log.ErrorContext(ctx, "an export was refused", "org_id", c.Principal.Org.ID, "cause", e.Err)
		}
		return Exported{}, err
	}
	if len(omitted) == len(parts()) {
		return Exported{}, &core.Error{
			Code: core.CodeInvalidScope, Scope: parts()[0].view,
			Message: "This credential can read no definitions: it lacks the scope `" + string(parts()[0].view) + "` and those of the other sections.",
			Next:    "Request a token with the view scope of at least one section, such as `" + string(core.TemplatesView) + "`.",
		}
	}
	return newExported(&held.Set, omitted), nil
}

// newExported returns the bundle with the definitions of a set.
func newExported(set *definitions.Set, omitted []definitions.Kind) Exported {
	e := Exported{Omitted: []string{}, tree: manifest.Write(set), images: map[string]bool{}}
	for _, i := range set.Images {
		e.images[i.Path] = true
	}
	for _, kind := range omitted {
		e.Omitted = append(e.Omitted, string(kind.Section()))
	}
	return e
}
