package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/git"
)

// openFolder opens a repository in a folder.
func (h *Host) openFolder(location string) (*repository, error) {
	folder, err := h.gitFolder(location)
	if err != nil {
		return nil, err
	}
	store := filesystem.NewStorage(osfs.New(folder, osfs.WithBoundOS()), cache.NewObjectLRU(cache.DefaultMaxSize))
	if err := checkFormat(store); err != nil {
		return nil, err
	}
	r := &repository{objects: store, branches: map[string]hash{}, whole: true, close: func() { _ = store.Close() }}
	if err := r.readReferences(store); err != nil {
		_ = store.Close()
		return nil, err
	}
	r.push = func(_ context.Context, branch string, commit hash, added *newObjects) error {
		for _, id := range added.ids {
			if _, err := store.SetEncodedObject(added.objects[id]); err != nil {
				return unwritable(err)
			}
		}
		return unwritable(store.SetReference(plumbing.NewHashReference(plumbing.NewBranchReferenceName(branch), commit)))
	}
	return r, nil
}

// unwritable explains an error of a write.
func unwritable(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, os.ErrPermission):
		return git.Refuse("The server may not write into the folder of the repository, so it cannot add a branch. Give the user of the server the permission.")
	default:
		return fmt.Errorf("write into the repository: %w", err)
	}
}

// gitFolder returns the folder with the objects of a repository, which is below the configured folder
// with all symbolic links resolved.
func (h *Host) gitFolder(location string) (string, error) {
	if h.cfg.Folder == "" {
		return "", git.Refuse("This server reads no repositories in folders. Its operator names the folder below which they are with --git-folder.")
	}
	base, err := filepath.Abs(h.cfg.Folder)
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		return "", fmt.Errorf("folder of repositories: %w", err)
	}
	if !filepath.IsAbs(location) {
		return "", git.Refuse("The path %s is not absolute.", core.Quote(location))
	}
	folder, err := below(base, location)
	if err != nil {
		return "", err
	}
	if dotGit := filepath.Join(folder, ".git"); exists(dotGit) {
		if folder, err = below(base, dotGit); err != nil {
			return "", err
		}
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() || !exists(filepath.Join(folder, "HEAD")) || !exists(filepath.Join(folder, "objects")) {
		return "", git.Refuse("The folder %s is no Git repository. A linked working tree is none either; name the repository itself.", core.Quote(location))
	}
	for name, what := range map[string]string{
		"commondir": "a linked working tree", "objects/info/alternates": "a clone that shares the objects of another repository (--shared or --reference)",
	} {
		if exists(filepath.Join(folder, filepath.FromSlash(name))) {
			return "", git.Refuse("The repository %s is %s, which is not supported. Name a repository with its own objects.", core.Quote(location), what)
		}
	}
	return folder, nil
}

// below returns a path with all symbolic links resolved. It refuses one that is not below base then,
// with the same text as one that does not exist, so that callers learn nothing about other folders.
func below(base, location string) (string, error) {
	missing := git.Refuse("The folder %s does not exist below the folder of repositories, which the operator of the server has set.", core.Quote(location))
	resolved, err := filepath.EvalSymlinks(location)
	if err != nil {
		return "", missing
	}
	relative, err := filepath.Rel(base, resolved)
	if err != nil || relative == "." || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
		return "", missing
	}
	return resolved, nil
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// checkFormat refuses repositories with a format that is not read.
func checkFormat(store *filesystem.Storage) error {
	cfg, err := store.Config()
	if err != nil {
		return git.Refuse("The file config of the repository cannot be read.")
	}
	extensions := cfg.Raw.Section("extensions")
	if format := extensions.Option("objectFormat"); format != "" && format != "sha1" {
		return git.Refuse("The repository has object ids of the kind %s. Only sha1 is supported.", core.Quote(format))
	}
	if refs := extensions.Option("refStorage"); refs != "" && refs != "files" {
		return git.Refuse("The repository keeps references in the format %s. Only files is supported.", core.Quote(refs))
	}
	return nil
}

// readReferences reads the branches and the one that is the default.
func (r *repository) readReferences(store *filesystem.Storage) error {
	head, err := store.Reference(plumbing.HEAD)
	if err != nil {
		return git.Refuse("The file HEAD of the repository cannot be read.")
	}
	if head.Type() != plumbing.SymbolicReference || !head.Target().IsBranch() {
		return git.Refuse("HEAD of the repository names no branch, so there is no default branch. Set one with git symbolic-ref HEAD refs/heads/main.")
	}
	references, err := store.IterReferences()
	if err != nil {
		return err
	}
	err = references.ForEach(func(ref *plumbing.Reference) error {
		if ref.Name().IsBranch() && ref.Type() == plumbing.HashReference {
			r.branches[ref.Name().Short()] = ref.Hash()
		}
		return nil
	})
	if err != nil {
		return err
	}
	r.branch = head.Target().Short()
	tip, ok := r.branches[r.branch]
	if !ok {
		return git.Refuse("The default branch %s has no commit yet. Commit the files and push them.", core.Quote(r.branch))
	}
	r.head = tip
	return nil
}
