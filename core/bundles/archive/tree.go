package archive

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// ManifestPath is the path of the manifest in a bundle.
const ManifestPath = "mailhelm.json"

// The limits of a bundle. MaxPacked is the size of the zip archive of an import, MaxContent that of all
// files together after they are unpacked, and MaxFile that of one.
const (
	MaxPacked   = 20 << 20
	MaxFiles    = 2000
	MaxImage    = 5 << 20
	MaxManifest = 64 << 10
	MaxFile     = MaxImage
	MaxContent  = 64 << 20
	maxPath     = 512
	maxSegment  = 200
)

// Tree has the contents of files by their paths. A path is relative, with "/" between its parts.
type Tree map[string][]byte

// Paths returns the paths of the files, sorted.
func (t Tree) Paths() []string { return slices.Sorted(maps.Keys(t)) }

// builder collects files, and refuses those that a bundle may not have.
type builder struct {
	tree Tree
	// folded has the path of each file and folder by its form without case.
	folded map[string]string
	bytes  int
}

func newBuilder() *builder { return &builder{tree: Tree{}, folded: map[string]string{}} }

// Builder makes a tree of files that come one at a time, and refuses those that a bundle may not have.
type Builder struct{ own *builder }

// NewBuilder returns a Builder of an empty tree.
func NewBuilder() *Builder { return &Builder{newBuilder()} }

// Add adds a file. It fails with core.CodeValidationFailed, and names the file, for one that a bundle
// may not have; the tree is then as before.
func (b *Builder) Add(name string, content []byte) error {
	if err := b.own.claim(name); err != nil {
		return err
	}
	before := b.own.bytes
	if err := b.own.add(name, content); err != nil {
		delete(b.own.tree, name)
		b.own.bytes = before
		return err
	}
	return nil
}

// Tree returns the files that were added.
func (b *Builder) Tree() Tree { return b.own.tree }

// claim checks the path of a file that is to be added, and keeps it.
func (b *builder) claim(name string) error {
	if reason := CheckPath(name); reason != "" {
		return refuse(name, reason)
	}
	if len(b.tree) >= MaxFiles {
		return core.Invalid("files", fmt.Sprintf("has more than %d files; leave out what the manifest does not name", MaxFiles))
	}
	if _, ok := b.tree[name]; ok {
		return refuse(name, "is there twice; keep one of them")
	}
	for at := name; at != "."; at = path.Dir(at) {
		form := strings.ToLower(at)
		other, ok := b.folded[form]
		switch {
		case ok && other != at:
			return refuse(name, "differs from "+core.Quote(other)+" in upper and lower case only, which some file systems do not tell apart; rename one")
		case ok && at == name:
			return refuse(name, "is the name of a folder too; rename one")
		}
		b.folded[form] = at
		if _, isFile := b.tree[at]; isFile {
			return refuse(name, "is in a folder with the name of the file "+core.Quote(at)+"; rename one")
		}
	}
	b.tree[name] = nil
	return nil
}

// add adds the content of a file whose path is claimed.
func (b *builder) add(name string, content []byte) error {
	limit := MaxFile
	if name == ManifestPath {
		limit = MaxManifest
	}
	if len(content) > limit {
		return refuse(name, fmt.Sprintf("is larger than %d bytes", limit))
	}
	if b.bytes += len(content); b.bytes > MaxContent {
		return refuse(name, fmt.Sprintf("makes the bundle larger than %d bytes without compression", MaxContent))
	}
	b.tree[name] = content
	return nil
}

// CheckPath returns what is wrong with a path of a bundle, "" for a path that may be used.
func CheckPath(name string) string {
	switch {
	case name == "":
		return "is empty"
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case len(name) > maxPath:
		return fmt.Sprintf("is longer than %d bytes", maxPath)
	case strings.ContainsRune(name, '\\'):
		return `has a backslash; write "/" between folders`
	case strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || !unicode.IsPrint(r) }):
		return "has a character that cannot be printed"
	case strings.HasPrefix(name, "/"), strings.Contains(name, ":"):
		return "is not relative to the bundle; write the path from the folder of the manifest"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "..":
			return `has "..", which could leave the bundle`
		case part == "" || part == ".":
			return `has an empty part or "."; write the shortest form`
		case len(part) > maxSegment:
			return fmt.Sprintf("has a part of more than %d bytes", maxSegment)
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") || strings.HasPrefix(part, " "):
			return `has a part that begins with a space, or ends with a space or "."`
		}
	}
	return ""
}

// refuse returns the error about a file.
func refuse(name, reason string) error {
	return core.Invalid("files", "has the file "+core.Quote(name)+", which "+reason)
}
