package local

import (
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/git"
)

// The author of commits. The address belongs to no domain (RFC 2606), so that no service takes the
// commits for those of a person.
const (
	authorName  = "Mailhelm"
	authorEmail = "mailhelm@noreply.invalid"
)

// newObjects are objects that a repository does not have yet.
type newObjects struct {
	ids     []hash
	objects map[hash]plumbing.EncodedObject
}

// add adds an object and returns its id.
func (n *newObjects) add(o *plumbing.MemoryObject) hash {
	id := o.Hash()
	if _, known := n.objects[id]; !known {
		n.ids = append(n.ids, id)
		n.objects[id] = o
	}
	return id
}

// change is a node of the paths of changed files: a file with its content, nil to remove it, or a
// folder.
type change struct {
	folder  map[string]*change
	content []byte
}

// commit makes a commit with the change after the newest commit. The repository gets nothing yet.
func (r *repository) commit(c core.RepositoryChange, at time.Time) (hash, *newObjects, error) {
	parent, err := r.commitOf(r.head)
	if err != nil {
		return hash{}, nil, err
	}
	root := &change{folder: map[string]*change{}}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		if reason := archive.CheckPath(name); reason != "" {
			return hash{}, nil, git.RefusePath(name, reason)
		}
		root.put(strings.Split(name, "/"), c.Files[name])
	}
	added := &newObjects{objects: map[hash]plumbing.EncodedObject{}}
	tree, err := r.changed(parent.TreeHash, root, added)
	if err != nil {
		return hash{}, nil, err
	}
	if tree == parent.TreeHash || tree.IsZero() {
		return hash{}, nil, git.RefuseEmpty(r.branch)
	}
	by := object.Signature{Name: authorName, Email: authorEmail, When: at.UTC()}
	message := strings.TrimSpace(strings.TrimSpace(c.Title)+"\n\n"+strings.TrimSpace(c.Message)) + "\n"
	o := &plumbing.MemoryObject{}
	made := object.Commit{Author: by, Committer: by, Message: message, TreeHash: tree, ParentHashes: []hash{parent.Hash}}
	if err := made.Encode(o); err != nil {
		return hash{}, nil, err
	}
	return added.add(o), added, nil
}

// put adds a changed file.
func (c *change) put(parts []string, content []byte) {
	if len(parts) == 0 {
		c.content = content
		return
	}
	if c.folder == nil {
		c.folder = map[string]*change{}
	}
	next := c.folder[parts[0]]
	if next == nil {
		next = &change{}
		c.folder[parts[0]] = next
	}
	next.put(parts[1:], content)
}

// changed returns the id of a folder with the changes, the zero id for a folder without files. before is
// the zero id for a new folder.
func (r *repository) changed(before hash, c *change, added *newObjects) (hash, error) {
	tree := &object.Tree{}
	if !before.IsZero() {
		var err error
		if tree, err = r.treeOf(before); err != nil {
			return hash{}, err
		}
	}
	entries := map[string]object.TreeEntry{}
	for _, e := range tree.Entries {
		entries[e.Name] = e
	}
	for _, name := range slices.Sorted(maps.Keys(c.folder)) {
		e, err := r.changedEntry(entries[name], name, c.folder[name], added)
		switch {
		case err != nil:
			return hash{}, err
		case e.Hash.IsZero():
			delete(entries, name)
		default:
			entries[name] = e
		}
	}
	if len(entries) == 0 {
		return hash{}, nil
	}
	next := object.Tree{Entries: slices.Collect(maps.Values(entries))}
	sort.Sort(object.TreeEntrySorter(next.Entries))
	o := &plumbing.MemoryObject{}
	if err := next.Encode(o); err != nil {
		return hash{}, err
	}
	if o.Hash() == before {
		return before, nil
	}
	return added.add(o), nil
}

// changedEntry returns an entry of a folder with the change. before is the zero value for a new one.
func (r *repository) changedEntry(before object.TreeEntry, name string, c *change, added *newObjects) (object.TreeEntry, error) {
	exists := !before.Hash.IsZero()
	if c.folder != nil {
		if exists && before.Mode != filemode.Dir {
			return before, git.RefuseBelow(name, kindOf(before.Mode), r.branch)
		}
		id, err := r.changed(before.Hash, c, added)
		return object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: id}, err
	}
	if exists && before.Mode != filemode.Regular && before.Mode != filemode.Executable && before.Mode != filemode.Deprecated {
		return before, git.RefuseNoFile(name, r.branch)
	}
	if c.content == nil {
		return object.TreeEntry{}, nil
	}
	o := &plumbing.MemoryObject{}
	o.SetType(plumbing.BlobObject)
	if _, err := o.Write(c.content); err != nil {
		return before, err
	}
	mode := filemode.Regular
	if before.Mode == filemode.Executable {
		mode = filemode.Executable
	}
	return object.TreeEntry{Name: name, Mode: mode, Hash: added.add(o)}, nil
}
