package git

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// The codes of diagnostics about files that are not read.
const (
	CodeSymlink       = "symlink"
	CodeSubmodule     = "submodule"
	CodeLFS           = "lfs_pointer"
	CodeFileTooLarge  = "file_too_large"
	CodeFileRefused   = "file_refused"
	CodeBranchRenamed = "branch_renamed"
)

// MaxEntries is the maximum number of files and folders below the path prefix.
const MaxEntries = 50_000

// EntryKind is what a path of a repository has.
type EntryKind int

// The kinds of entries.
const (
	File EntryKind = iota
	Folder
	Symlink
	Submodule
)

// String returns the kind for a sentence, with its article.
func (k EntryKind) String() string {
	switch k {
	case Folder:
		return "a folder"
	case Symlink:
		return "a symbolic link"
	case Submodule:
		return "a submodule"
	default:
		return "a file"
	}
}

// Entry is a path of a repository. Path is relative to the path prefix. ID is the id of the object.
type Entry struct {
	Path string
	Kind EntryKind
	ID   string
}

// ErrTooLarge is the error of a read for a file that is larger than the limit.
var ErrTooLarge = errors.New("larger than the limit")

// Collect returns the manifest and the files that it names, and diagnostics about those of them that
// are not read: symbolic links, submodules, pointers of Git LFS, and files that no bundle may have.
// The function read returns the content of a file, and fails with [ErrTooLarge] if it has more than
// limit bytes. Files that the manifest does not name are never read. Collect fails only with the
// other errors of read.
func Collect(ctx context.Context, entries []Entry, read func(ctx context.Context, e Entry, limit int64) ([]byte, error)) (archive.Tree, []definitions.Diagnostic, error) {
	c := &collector{read: read, builder: archive.NewBuilder(), blocked: map[string]Entry{}}
	entries = slices.Clone(entries)
	slices.SortFunc(entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	for _, e := range entries {
		if e.Kind == Symlink || e.Kind == Submodule {
			c.blocked[e.Path] = e
		}
	}
	isManifest := func(e Entry) bool { return e.Path == archive.ManifestPath }
	if i := slices.IndexFunc(entries, isManifest); i >= 0 {
		if err := c.add(ctx, entries[i], archive.MaxManifest); err != nil {
			return nil, nil, err
		}
	}
	wanted := namedBy(c.builder.Tree()[archive.ManifestPath])
	for _, e := range entries {
		if isManifest(e) || !wanted.has(e.Path) {
			continue
		}
		if err := c.add(ctx, e, archive.MaxFile); err != nil {
			return nil, nil, err
		}
	}
	c.nameBlocked(wanted)
	return c.builder.Tree(), c.diagnostics, nil
}

// collector collects the files of a repository.
type collector struct {
	read        func(ctx context.Context, e Entry, limit int64) ([]byte, error)
	builder     *archive.Builder
	diagnostics []definitions.Diagnostic
	// blocked has the entries below which no file is.
	blocked map[string]Entry
}

// add reads a file, or says why it is not read.
func (c *collector) add(ctx context.Context, e Entry, limit int64) error {
	switch e.Kind {
	case File:
	case Folder:
		return nil
	default:
		c.refuse(e.Path, codeOf(e.Kind), "is "+e.Kind.String()+", which is not followed; commit the file itself")
		return nil
	}
	content, err := c.read(ctx, e, limit)
	switch {
	case errors.Is(err, ErrTooLarge):
		c.refuse(e.Path, CodeFileTooLarge, fmt.Sprintf("is larger than %d bytes", limit))
		return nil
	case err != nil:
		return fmt.Errorf("read %q: %w", e.Path, err)
	case bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/")):
		c.refuse(e.Path, CodeLFS, "is kept by Git LFS, which is not supported; commit the file itself")
		return nil
	}
	if err := c.builder.Add(e.Path, content); err != nil {
		c.diagnostics = append(c.diagnostics, definitions.Diagnostic{Severity: definitions.Error, Code: CodeFileRefused, Message: fileFault(err), Path: e.Path})
	}
	return nil
}

// nameBlocked says of each wanted path that it is below a symbolic link or a submodule.
func (c *collector) nameBlocked(wanted names) {
	for _, path := range wanted.sorted() {
		for i := range len(path) {
			if e, ok := c.blocked[path[:i]]; ok && path[i] == '/' && strings.Trim(path[i:], "/") != "" {
				c.refuse(path, codeOf(e.Kind), "is in "+core.Quote(e.Path)+", which is "+e.Kind.String()+"; commit the files themselves")
			}
		}
		if folder, ok := strings.CutSuffix(path, "/"); ok {
			if e, ok := c.blocked[folder]; ok {
				c.refuse(folder, codeOf(e.Kind), "is "+e.Kind.String()+"; commit the files themselves")
			}
		}
	}
}

// refuse adds the diagnostic about a file that is not read.
func (c *collector) refuse(path, code, reason string) {
	c.diagnostics = append(c.diagnostics, definitions.Diagnostic{
		Severity: definitions.Error, Code: code, Message: "The file " + core.Quote(path) + " " + reason + ".", Path: path,
	})
}

// fileFault returns the text of an error about a file.
func fileFault(err error) string {
	e := core.AsError(err)
	for _, f := range e.Fields {
		return "The repository " + f.Reason + "."
	}
	return e.Message
}

func codeOf(k EntryKind) string {
	if k == Submodule {
		return CodeSubmodule
	}
	return CodeSymlink
}

// names are the paths that a manifest names. A path that ends in "/" is a folder.
type names map[string]bool

// has reports whether the manifest names a file, or a folder in which it is.
func (n names) has(path string) bool {
	if n[path] {
		return true
	}
	for i, c := range path {
		if c == '/' && n[path[:i+1]] {
			return true
		}
	}
	return false
}

// sorted returns the paths in order.
func (n names) sorted() []string {
	all := make([]string, 0, len(n))
	for path := range n {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

// namedBy returns the paths that a manifest names. What is not a manifest names none; package
// bundles/manifest reports what is wrong with it.
func namedBy(content []byte) names {
	found := names{}
	var sections map[string]json.RawMessage
	if json.Unmarshal(content, &sections) != nil {
		return found
	}
	for _, section := range []string{"attributes", "activity_properties"} {
		var path string
		if json.Unmarshal(sections[section], &path) == nil && path != "" {
			found[path] = true
		}
	}
	var images []json.RawMessage
	_ = json.Unmarshal(sections["images"], &images) // another type names no path
	for _, image := range images {
		var path string
		if json.Unmarshal(image, &path) == nil && path != "" {
			found[path] = true
		}
	}
	for _, section := range []string{"segments", "templates", "workflows"} {
		var members map[string]map[string]json.RawMessage
		if json.Unmarshal(sections[section], &members) != nil {
			members = lenientMembers(sections[section])
		}
		for _, member := range members {
			for _, name := range []string{"path", "text", "testdata"} {
				var path string
				if json.Unmarshal(member[name], &path) == nil && path != "" {
					found[path] = true
				}
			}
		}
	}
	return found
}

// testDataOf returns the paths of the files in the folders of test data that the manifest of a tree
// names, sorted.
func testDataOf(tree archive.Tree) []string {
	var found []string
	named := namedBy(tree[archive.ManifestPath])
	for _, name := range tree.Paths() {
		if folder, _ := path.Split(name); folder != "" && named[folder] && path.Ext(name) == ".json" {
			found = append(found, name)
		}
	}
	return found
}

// lenientMembers returns the members of a section that are objects.
func lenientMembers(section json.RawMessage) map[string]map[string]json.RawMessage {
	var raw map[string]json.RawMessage
	_ = json.Unmarshal(section, &raw) // another type has no members
	members := map[string]map[string]json.RawMessage{}
	for key, text := range raw {
		var member map[string]json.RawMessage
		if json.Unmarshal(text, &member) == nil {
			members[key] = member
		}
	}
	return members
}
