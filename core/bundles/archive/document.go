package archive

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
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

// AppendDocument appends a tree as the members of the JSON document, without the braces around them.
// images has the paths that are images; files that are not UTF-8 are among the images too. Paths are
// sorted. It writes each content once, because a tree can have 64 MiB.
func AppendDocument(b []byte, t Tree, images map[string]bool) ([]byte, error) {
	var manifest bytes.Buffer
	if err := json.Compact(&manifest, t[ManifestPath]); err != nil {
		return nil, fmt.Errorf("the manifest is no JSON: %w", err)
	}
	const perFile = 2 * maxPath
	size := manifest.Len()
	for _, content := range t {
		size += base64.StdEncoding.EncodedLen(len(content)) + perFile
	}
	b = append(append(slices.Grow(b, size), `"manifest":`...), manifest.Bytes()...)
	isImage := func(name string) bool { return images[name] || !utf8.Valid(t[name]) }
	b, err := appendFiles(append(b, `,"files":{`...), t, func(b []byte, name string) ([]byte, error) {
		if isImage(name) {
			return nil, nil
		}
		return jsontext.AppendQuote(b, t[name])
	})
	if err != nil {
		return nil, err
	}
	b, err = appendFiles(append(b, `},"images":{`...), t, func(b []byte, name string) ([]byte, error) {
		if !isImage(name) {
			return nil, nil
		}
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), t[name]), '"'), nil
	})
	return append(b, '}'), err
}

// appendFiles appends members with the files of a tree, except for the manifest. The function value
// appends the value of a file, or returns nil to leave it out.
func appendFiles(b []byte, t Tree, value func(b []byte, name string) ([]byte, error)) ([]byte, error) {
	first := true
	for _, name := range t.Paths() {
		if name == ManifestPath {
			continue
		}
		member := b
		if !first {
			member = append(member, ',')
		}
		member, err := jsontext.AppendQuote(member, name)
		if err != nil {
			return nil, fmt.Errorf("the path %s: %w", core.Quote(name), err)
		}
		if member, err = value(append(member, ':'), name); err != nil {
			return nil, fmt.Errorf("the file %s: %w", core.Quote(name), err)
		}
		if member != nil {
			b, first = member, false
		}
	}
	return b, nil
}
