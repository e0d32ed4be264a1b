package layout

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const decisions = "core/doc/decisions"

// TestDecisions checks the files in core/doc/decisions. They must be numbered from 0001
// without gaps, and have the sections Context, Decision and Rejected and at most 70 lines.
func TestDecisions(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, file := range repository(t).Files {
		if path.Dir(file) == decisions && path.Ext(file) == ".md" {
			pages = append(pages, file)
		}
	}
	slices.Sort(pages)
	if len(pages) == 0 {
		t.Fatalf("%s holds no page", decisions)
	}
	for i, page := range pages {
		if want := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(path.Base(page), want) {
			t.Errorf("%s: page %d in order, so its name begins with %s", page, i+1, want)
		}
		text := contents(t, page)
		for _, heading := range []string{"\n## Context\n", "\n## Decision\n", "\n## Rejected\n"} {
			if !strings.Contains(text, heading) {
				t.Errorf("%s has no section %q", page, strings.TrimSpace(heading))
			}
		}
		if n := strings.Count(text, "\n"); n > 70 {
			t.Errorf("%s has %d lines; a decision fits on one page", page, n)
		}
	}
}

var (
	requirement    = regexp.MustCompile(`(?m)^\s*(?:require )?([a-z0-9.-]+\.[a-z]+/\S+) v\S+( // indirect)?$`)
	dependencyLine = regexp.MustCompile("(?m)^- `([^`]+)`: \\S.*$")
)

// directDependencies returns the modules that the go.mod of a folder requires directly. The folder "." is
// the root.
func directDependencies(t *testing.T, folder string) map[string]bool {
	t.Helper()
	required := map[string]bool{}
	for _, m := range requirement.FindAllStringSubmatch(contents(t, path.Join(folder, "go.mod")), -1) {
		if m[2] == "" {
			required[m[1]] = true
		}
	}
	if len(required) == 0 {
		t.Fatalf("no direct dependency was found in the go.mod of %s", folder)
	}
	return required
}

// TestDependenciesHaveReasons checks that core/doc/dependencies.md has one line with a
// reason for every direct dependency, and no line for other modules.
func TestDependenciesHaveReasons(t *testing.T) {
	t.Parallel()
	required := directDependencies(t, ".")
	explained := map[string]bool{}
	for _, m := range dependencyLine.FindAllStringSubmatch(contents(t, "core/doc/dependencies.md"), -1) {
		if explained[m[1]] {
			t.Errorf("core/doc/dependencies.md explains %s twice", m[1])
		}
		explained[m[1]] = true
		if !required[m[1]] {
			t.Errorf("core/doc/dependencies.md explains %s, which go.mod does not require directly", m[1])
		}
	}
	for module := range required {
		if !explained[module] {
			t.Errorf("core/doc/dependencies.md does not say what %s is for", module)
		}
	}
}

// TestDependenciesAreImported checks of each go.mod that it requires a module directly if and only if a
// package of its module imports it.
func TestDependenciesAreImported(t *testing.T) {
	t.Parallel()
	tree := repository(t)
	required, used := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, file := range tree.Files {
		if folder := path.Dir(file); path.Base(file) == "go.mod" {
			required[folder], used[folder] = directDependencies(t, folder), map[string]bool{}
		}
	}
	for _, s := range tree.Sources {
		folder := path.Dir(s.Path)
		for required[folder] == nil {
			folder = path.Dir(folder)
		}
		for _, imported := range s.Imports() {
			if host, _, _ := strings.Cut(imported, "/"); !strings.Contains(host, ".") || strings.HasPrefix(imported, Module) {
				continue
			}
			module := moduleOf(imported, required[folder])
			used[folder][module] = true
			if module == "" {
				t.Errorf("%s imports %s, which the go.mod of %s does not require directly", s.Path, imported, folder)
			}
		}
	}
	for folder, modules := range required {
		for module := range modules {
			if !used[folder][module] {
				t.Errorf("the go.mod of %s requires %s and nothing imports it", folder, module)
			}
		}
	}
}

// TestDriversAreComparedWithOurs checks that the program that compares drivers of SQLite has Mailhelm's own
// driver in the version that Mailhelm uses.
func TestDriversAreComparedWithOurs(t *testing.T) {
	t.Parallel()
	version := regexp.MustCompile(`(?m)^\s*modernc\.org/sqlite (v\S+)$`)
	ours, compared := version.FindStringSubmatch(contents(t, "go.mod")), version.FindStringSubmatch(contents(t, "conformance/load/drivers/go.mod"))
	if ours == nil || compared == nil || ours[1] != compared[1] {
		t.Errorf("go.mod has modernc.org/sqlite %q, conformance/load/drivers/go.mod %q", ours, compared)
	}
}

// moduleOf returns the module to which an imported package belongs: the longest path in
// modules that is the import path or a parent of it. It returns "" if modules has no such
// path.
func moduleOf(imported string, modules map[string]bool) string {
	longest := ""
	for module := range modules {
		if (imported == module || strings.HasPrefix(imported, module+"/")) && len(module) > len(longest) {
			longest = module
		}
	}
	return longest
}

var link = regexp.MustCompile(`\]\(([^)\s#]+)(?:#[^)]*)?\)`)

// servedGuides is the folder of the served guides. A test of rest/docs follows their links.
const servedGuides = "rest/docs/guides/"

// TestRelativeLinksHaveTargets checks that the target of every relative link in the Markdown
// documents exists.
func TestRelativeLinksHaveTargets(t *testing.T) {
	t.Parallel()
	for _, file := range repository(t).Files {
		if path.Ext(file) != ".md" {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(contents(t, file), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "/") || strings.HasPrefix(file, servedGuides) {
				continue // a URL, or a path of the served documentation, is not a file
			}
			target := filepath.Join(repository(t).Root, filepath.FromSlash(path.Join(path.Dir(file), m[1])))
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", file, m[1])
			}
		}
	}
}

// codeSpan matches the words in code style that may be the path of a file or folder.
var codeSpan = regexp.MustCompile("`([a-z0-9_./-]+)`")

// TestNamedPathsExist checks that the paths that the documents about the code name exist. A
// name with a slash that begins with a top-level folder, or that ends as a Go file does, is
// a path from the root; methods of the agent endpoint are none. A Go file without a slash
// may be in any folder. Decisions are excluded because they may name what was rejected or
// removed later.
func TestNamedPathsExist(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, file := range repository(t).Files {
		names[path.Base(file)] = true
	}
	for _, document := range []string{"core/doc/how-to.md", "core/doc/architecture.md", "CONTRIBUTING.md", "README.md"} {
		for _, m := range codeSpan.FindAllStringSubmatch(contents(t, document), -1) {
			top, _, isPath := strings.Cut(m[1], "/")
			isGo := path.Ext(m[1]) == ".go"
			if m[1] == "tools/list" || !isGo && !(isPath && slices.Contains(topFolders, top)) || isGo && !isPath && names[m[1]] {
				continue
			}
			if _, err := os.Stat(filepath.Join(repository(t).Root, filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s names %s, which does not exist", document, m[1])
			}
		}
	}
}

var (
	makeCommand = regexp.MustCompile(`\bmake ([a-z-]+)`)
	target      = regexp.MustCompile(`(?m)^([a-z-]+):.*## `)
)

// TestMakeTargetsExist checks that every command "make X" in README.md and CONTRIBUTING.md
// names a target of the Makefile that has a help text.
func TestMakeTargetsExist(t *testing.T) {
	t.Parallel()
	makefile := contents(t, "Makefile")
	targets := map[string]bool{}
	for _, m := range target.FindAllStringSubmatch(makefile, -1) {
		targets[m[1]] = true
	}
	for _, document := range []string{"README.md", "CONTRIBUTING.md"} {
		for _, m := range makeCommand.FindAllStringSubmatch(contents(t, document), -1) {
			if !targets[m[1]] {
				t.Errorf("%s says %q, and the Makefile has no such target", document, m[0])
			}
		}
	}
	if want := "bin/mailhelm demo"; !strings.Contains(contents(t, "README.md"), want) ||
		!strings.Contains(makefile, "\nrun: build ") || !strings.Contains(makefile, "\t"+want) {
		t.Errorf("make run is not %q, or the README does not say so", want)
	}
}
