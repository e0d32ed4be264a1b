package archive

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// Document is a bundle as JSON. Files has the contents of text files by path. The manifest is a member of
// its own or, as text, the file mailhelm.json. Images has the contents of images in base64 (RFC 4648, section 4).
type Document struct {
	Manifest json.RawMessage   `json:"manifest"`
	Files    map[string]string `json:"files"`
	Images   map[string]string `json:"images"`
}

// Tree returns the files of the document. It fails with core.CodeValidationFailed, and names the file,
// for a document that no bundle can be.
func (d Document) Tree() (Tree, error) {
	b := newBuilder()
	if err := b.addManifest(d); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(d.Files)) {
		if err := b.claim(name); err != nil {
			return nil, err
		}
		if err := b.add(name, []byte(d.Files[name])); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Images)) {
		encoded := d.Images[name]
		if err := b.claim(name); err != nil {
			return nil, err
		}
		if base64.StdEncoding.DecodedLen(len(encoded)) > MaxImage+2 {
			return nil, refuse(name, fmt.Sprintf("is larger than %d bytes", MaxImage))
		}
		content, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, refuse(name, "is not base64 (RFC 4648, section 4)")
		}
		if err := b.add(name, content); err != nil {
			return nil, err
		}
	}
	return b.tree, nil
}

// addManifest adds the manifest, unless it is among the files.
func (b *builder) addManifest(d Document) error {
	_, isFile := d.Files[ManifestPath]
	isMember := len(d.Manifest) > 0 && string(d.Manifest) != "null"
	switch {
	case isFile && isMember:
		return core.Invalid("manifest", "is there twice: `files` has "+ManifestPath+" too; keep one of them")
	case isFile:
		return nil
	case !isMember:
		return core.Invalid("manifest", "is missing; send the content of mailhelm.json as an object")
	}
	if err := b.claim(ManifestPath); err != nil {
		return err
	}
	// Places in the manifest are those of the file that an export has.
	var text bytes.Buffer
	if err := json.Indent(&text, d.Manifest, "", "  "); err != nil {
		return core.Invalid("manifest", "is no JSON value")
	}
	text.WriteByte('\n')
	return b.add(ManifestPath, text.Bytes())
}

// NewDocument returns a tree as a JSON document. images has the paths that are images; files that are
// not UTF-8 are among the images too.
func NewDocument(t Tree, images map[string]bool) Document {
	d := Document{Manifest: t[ManifestPath], Files: map[string]string{}, Images: map[string]string{}}
	for name, content := range t {
		switch {
		case name == ManifestPath:
		case images[name] || !utf8.Valid(content):
			d.Images[name] = base64.StdEncoding.EncodeToString(content)
		default:
			d.Files[name] = string(content)
		}
	}
	return d
}
