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

// Source is one Go file of ours, parsed.
type Source struct {
	// Path is relative to the repository, with slashes: "core/op.go".
	Path string
	Text []byte
	File *ast.File
	Set  *token.FileSet
}

// Folder is the file's package as a path in the repository; "." is the root.
func (s Source) Folder() string { return path.Dir(s.Path) }

// IsTest reports whether the file is for tests only: a _test.go file, or any file of a
// folder named after the package that it helps to test, as audiencetest.
func (s Source) IsTest() bool {
	folder := s.Folder()
	return strings.HasSuffix(s.Path, "_test.go") || strings.HasSuffix(folder, path.Base(path.Dir(folder))+"test")
}

// Lines is the number of lines.
func (s Source) Lines() int { return bytes.Count(s.Text, []byte("\n")) }

// Imports are the paths that the file imports.
func (s Source) Imports() []string {
	paths := make([]string, 0, len(s.File.Imports))
	for _, spec := range s.File.Imports {
		unquoted, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has accepted it, so it is a string
		}
		paths = append(paths, unquoted)
	}
	return paths
}

// Position is where a node stands, for a message.
func (s Source) Position(p token.Pos) string {
	return fmt.Sprintf("%s:%d", s.Path, s.Set.Position(p).Line)
}

// Tree is the repository as it lies on disk, without what git ignores.
type Tree struct {
	Root    string
	Sources []Source
	// Files are all files, by path relative to Root.
	Files []string
}

// ReadTree parses every Go file below root and lists the others. testdata and
// hidden folders other than .ci are left out.
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

// ignoredNames reads the lines of .gitignore that name one file or folder at the
// top; patterns are left to git.
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
