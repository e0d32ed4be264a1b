package layout

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Source is one parsed Go file of the repository.
type Source struct {
	// Path is relative to the root of the repository, with slashes: "core/op.go".
	Path string
	// Text is the content of the file.
	Text []byte
	// File is the syntax tree with all comments, without links from identifiers to their
	// declarations.
	File *ast.File
	// Set translates the positions in File to lines. All files of a [Tree] share one Set.
	Set *token.FileSet
}

// Folder returns the path of the file's folder in the repository; "." is the root.
func (s Source) Folder() string { return path.Dir(s.Path) }

// IsTest reports whether the file is used in tests only. That is so for files whose names
// end in _test.go, and for all files of a package of test helpers, such as contactstest.
func (s Source) IsTest() bool {
	folder := s.Folder()
	return strings.HasSuffix(s.Path, "_test.go") || strings.HasSuffix(folder, path.Base(path.Dir(folder))+"test")
}

// Lines returns the number of lines in the file.
func (s Source) Lines() int { return bytes.Count(s.Text, []byte("\n")) }

// Imports returns the import paths of the file.
func (s Source) Imports() []string {
	paths := make([]string, 0, len(s.File.Imports))
	for _, spec := range s.File.Imports {
		unquoted, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has accepted the literal, so this cannot happen
		}
		paths = append(paths, unquoted)
	}
	return paths
}

// Position returns p as file and line for error messages, such as "core/op.go:12".
func (s Source) Position(p token.Pos) string {
	return fmt.Sprintf("%s:%d", s.Path, s.Set.Position(p).Line)
}

// Tree has the files of the repository, without those that git ignores.
type Tree struct {
	// Root is the path of the repository on this machine.
	Root string
	// Sources has the parsed Go files, in the lexical order of filepath.WalkDir.
	Sources []Source
	// Files has the paths of all files, relative to Root, with slashes.
	Files []string
}

// ReadTree lists the files below root and parses the Go files. It leaves out files that git
// ignores, folders named testdata, and hidden folders except .ci. It fails if a Go file has
// a syntax error.
func ReadTree(root string) (*Tree, error) {
	ignored, err := ignoredNames(root)
	if err != nil {
		return nil, err
	}
	t := &Tree{Root: root}
	set := token.NewFileSet()
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == root {
			return err
		}
		relative, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		if entry.IsDir() {
			if ignored["/"+relative+"/"] || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".ci" {
				return filepath.SkipDir
			}
			return nil
		}
		if ignored["/"+relative] {
			return nil
		}
		return t.add(set, relative)
	})
	return t, err
}

// add appends one file to the tree, and parses it if it is a Go file. relative is the path
// of the file from the root, with slashes.
func (t *Tree) add(set *token.FileSet, relative string) error {
	t.Files = append(t.Files, relative)
	if path.Ext(relative) != ".go" {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(relative)))
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(set, relative, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.Sources = append(t.Sources, Source{Path: relative, Text: text, File: file, Set: set})
	return nil
}

// ignoredNames returns the entries of .gitignore that begin with a slash, as the keys of a
// map. Keys keep their slashes: "/bin/" for a folder, "/notes" for a file.
func ignoredNames(root string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "/") {
			names[line] = true
		}
	}
	return names, nil
}
