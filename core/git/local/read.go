package local

import (
	"context"
	"errors"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/mailhelm/mailhelm/core/git"
)

// hash is the id of an object.
type hash = plumbing.Hash

// maxPath is the longest path that a bundle may have, in bytes. Folders with longer ones are not
// entered.
const maxPath = 512

// maxAncestors is the number of commits among which a merged one is searched.
const maxAncestors = 10_000

// snapshot reads the files below a folder, and finds out which proposals are decided.
func (r *repository) snapshot(ctx context.Context, prefix string, open []git.Proposal) (git.Snapshot, error) {
	commit, err := r.commitOf(r.head)
	if err != nil {
		return git.Snapshot{}, err
	}
	root, err := r.folder(commit.TreeHash, prefix)
	if err != nil {
		return git.Snapshot{}, err
	}
	w := walk{r: r, ctx: ctx, hashes: map[string]hash{}}
	if err := w.add(root, ""); err != nil {
		return git.Snapshot{}, err
	}
	tree, diagnostics, err := git.Collect(ctx, w.entries, func(_ context.Context, e git.Entry, limit int64) ([]byte, error) {
		return r.content(w.hashes[e.Path], limit)
	})
	if err != nil {
		return git.Snapshot{}, err
	}
	states, err := r.states(ctx, commit, open)
	return git.Snapshot{
		Revision: git.Revision{Branch: r.branch, Commit: r.head.String(), CommittedAt: commit.Committer.When.UTC()},
		Tree:     tree, Diagnostics: diagnostics, States: states,
	}, err
}

// encoded returns an object of a type that is not larger than limit bytes.
func (r *repository) encoded(kind plumbing.ObjectType, id hash, limit int64) (plumbing.EncodedObject, error) {
	size, err := r.objects.EncodedObjectSize(id)
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return nil, git.Refuse("The repository has no object %s, which it names. It may be damaged or a partial clone; repair it with git fsck.", id)
	case err != nil:
		return nil, err
	case size > limit:
		return nil, git.ErrTooLarge
	}
	found, err := r.objects.EncodedObject(kind, id)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return nil, git.Refuse("The object %s of the repository is no %s. The repository is damaged.", id, kind)
	}
	return found, err
}

// commitOf returns a commit.
func (r *repository) commitOf(id hash) (*object.Commit, error) {
	encoded, err := r.encoded(plumbing.CommitObject, id, maxCommit)
	if errors.Is(err, git.ErrTooLarge) {
		return nil, git.Refuse("The commit %s is larger than %d bytes.", id, maxCommit)
	}
	if err != nil {
		return nil, err
	}
	return object.DecodeCommit(r.objects, encoded)
}

// treeOf returns a folder.
func (r *repository) treeOf(id hash) (*object.Tree, error) {
	encoded, err := r.encoded(plumbing.TreeObject, id, maxTree)
	if errors.Is(err, git.ErrTooLarge) {
		return nil, git.Refuse("A folder of the repository has a list of files with more than %d bytes.", maxTree)
	}
	if err != nil {
		return nil, err
	}
	return object.DecodeTree(r.objects, encoded)
}

// content returns the content of a file.
func (r *repository) content(id hash, limit int64) ([]byte, error) {
	encoded, err := r.encoded(plumbing.BlobObject, id, limit)
	if err != nil {
		return nil, err
	}
	reader, err := encoded.Reader()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	content, err := io.ReadAll(io.LimitReader(reader, limit+1))
	if err == nil && int64(len(content)) > limit {
		err = git.ErrTooLarge
	}
	return content, err
}

// folder returns the folder at a path. Parts of the path must be folders themselves, not links.
func (r *repository) folder(root hash, prefix string) (*object.Tree, error) {
	tree, err := r.treeOf(root)
	if err != nil || prefix == "" {
		return tree, err
	}
	for part := range strings.SplitSeq(prefix, "/") {
		i := slices.IndexFunc(tree.Entries, func(e object.TreeEntry) bool { return e.Name == part })
		if i < 0 {
			return nil, git.RefuseNoPrefix(r.branch, prefix)
		}
		if tree.Entries[i].Mode != filemode.Dir {
			return nil, git.RefusePrefix(prefix, part, kindOf(tree.Entries[i].Mode))
		}
		if tree, err = r.treeOf(tree.Entries[i].Hash); err != nil {
			return nil, err
		}
	}
	return tree, nil
}

// kindOf returns the kind of an entry with a mode.
func kindOf(m filemode.FileMode) git.EntryKind {
	switch m {
	case filemode.Dir:
		return git.Folder
	case filemode.Symlink:
		return git.Symlink
	case filemode.Submodule:
		return git.Submodule
	default:
		return git.File
	}
}

// walk lists the files below a folder.
type walk struct {
	r       *repository
	ctx     context.Context //nolint:containedctx // lives as long as the call that lists
	entries []git.Entry
	hashes  map[string]hash
}

// add adds the entries of a folder and of the folders in it.
func (w *walk) add(folder *object.Tree, at string) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	for _, e := range folder.Entries {
		if len(w.entries) >= git.MaxEntries {
			return git.RefuseEntries(w.r.branch)
		}
		name := path.Join(at, e.Name)
		found := git.Entry{Path: name, Kind: kindOf(e.Mode), ID: e.Hash.String()}
		// A name that no checkout could have is not resolved by path.Join.
		if e.Name == "." || e.Name == ".." || strings.Contains(e.Name, "/") || len(name) > maxPath {
			continue
		}
		w.entries = append(w.entries, found)
		w.hashes[name] = e.Hash
		if found.Kind != git.Folder {
			continue
		}
		below, err := w.r.treeOf(e.Hash)
		if err != nil {
			return err
		}
		if err := w.add(below, name); err != nil {
			return err
		}
	}
	return nil
}

// states returns the states of proposals that are decided.
func (r *repository) states(ctx context.Context, head *object.Commit, open []git.Proposal) (map[string]git.ProposalState, error) {
	if len(open) == 0 {
		return nil, nil
	}
	merged, err := r.ancestors(ctx, head)
	if err != nil {
		return nil, err
	}
	states := map[string]git.ProposalState{}
	for _, p := range open {
		tip, exists := r.branches[p.Branch]
		applied, err := r.isApplied(head.TreeHash, p.Blobs)
		switch {
		case err != nil:
			return nil, err
		case applied, exists && merged[tip]:
			states[p.Branch] = git.Merged
		case !exists:
			states[p.Branch] = git.Closed
		}
	}
	return states, nil
}

// ancestors returns the newest commits, with the one from which the search begins. A repository
// without history has that one and its parents.
func (r *repository) ancestors(ctx context.Context, head *object.Commit) (map[hash]bool, error) {
	known := map[hash]bool{head.Hash: true}
	queue := []*object.Commit{head}
	for len(queue) > 0 && len(known) < maxAncestors {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		commit := queue[0]
		queue = queue[1:]
		for _, parent := range commit.ParentHashes {
			if known[parent] {
				continue
			}
			known[parent] = true
			if !r.whole || r.objects.HasEncodedObject(parent) != nil { // a shallow clone ends somewhere
				continue
			}
			next, err := r.commitOf(parent)
			if err != nil {
				return nil, err
			}
			queue = append(queue, next)
		}
	}
	return known, nil
}

// isApplied reports whether all files have the given contents. Without files it is false.
func (r *repository) isApplied(root hash, blobs map[string]string) (bool, error) {
	tree, err := r.treeOf(root)
	if err != nil {
		return false, err
	}
	for _, name := range slices.Sorted(maps.Keys(blobs)) {
		got := ""
		entry, err := tree.FindEntry(name)
		switch {
		case err == nil && entry.Mode.IsFile():
			got = entry.Hash.String()
		case err != nil && !errors.Is(err, object.ErrEntryNotFound) && !errors.Is(err, object.ErrDirectoryNotFound):
			return false, err
		}
		if got != blobs[name] {
			return false, nil
		}
	}
	return len(blobs) > 0, nil
}
