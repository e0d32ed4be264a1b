package bundle

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/diff"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/difference/linediff"
)

// Diff is `mailhelm bundle diff`.
type Diff struct {
	server
	folder
}

// Help returns the text that --help shows below the summary.
func (Diff) Help() string {
	return `Prints a unified diff from the folder to the organization: lines with - are in the folder only, lines with + in the organization only. Both sides are in the layout of 'mailhelm bundle export', so that files with other names or another order of members are equal. Only sections of the folder's manifest are compared, and no file that the manifest does not name.

Unlike 'mailhelm bundle plan', it needs the view scopes only, and shows what changed and not what would be done.

` + exitText + `

Examples:

    mailhelm bundle diff definitions
    mailhelm bundle diff definitions | less -R`
}

// Run prints the differences.
func (c *Diff) Run(p *cli.Program) error {
	files, err := c.read(p)
	if err != nil {
		return err
	}
	ours := manifest.Read(files)
	if ours.HasErrors() {
		return errors.New("the folder has errors, so it cannot be compared: run 'mailhelm bundle validate " + c.Folder + "'")
	}
	exported, omitted, err := c.export(p)
	if err != nil {
		return err
	}
	theirs := manifest.Read(exported)
	for _, kind := range kindsIn(&ours.Set) {
		if !theirs.Set.Declared[kind] {
			return errors.New("the API key may not read the section " + core.Quote(string(kind.Section())) + ": give it the view scope. The server left out " + omitted)
		}
	}
	// A section that the folder does not have says nothing about the organization.
	theirs.Set.Declared = ours.Set.Declared
	text, err := unified(layout(&ours.Set), layout(&theirs.Set), p.Colour())
	if err != nil || text == "" {
		return err
	}
	if _, err := p.Stdout.Write([]byte(text)); err != nil {
		return err
	}
	return cli.ErrChanges
}

// layout returns the files of an export of a set.
func layout(set *definitions.Set) archive.Tree { return manifest.Write(set) }

// contextLines is the number of equal lines around a change.
const contextLines = 3

// unified returns the differences of two trees in the form of git, "" if they are equal.
func unified(before, after archive.Tree, colour bool) (string, error) {
	var changed patch
	for _, name := range paths(before, after) {
		from, inBefore := before[name]
		to, inAfter := after[name]
		if inBefore == inAfter && bytes.Equal(from, to) {
			continue
		}
		f := filePatch{binary: !utf8.Valid(from) || !utf8.Valid(to)}
		if inBefore {
			f.from = file{name, from}
		}
		if inAfter {
			f.to = file{name, to}
		}
		if !f.binary {
			f.chunks = chunks(visible(from), visible(to))
		}
		changed = append(changed, f)
	}
	if len(changed) == 0 {
		return "", nil
	}
	var text strings.Builder
	encoder := diff.NewUnifiedEncoder(&text, contextLines)
	if colour {
		encoder.SetColor(diff.NewColorConfig())
	}
	err := encoder.Encode(changed)
	return text.String(), err
}

// visible returns a text without characters that control a terminal. It keeps lines.
func visible(content []byte) string {
	lines := strings.SplitAfter(string(content), "\n")
	for i, line := range lines {
		text, ended := strings.CutSuffix(line, "\n")
		lines[i] = strings.ReplaceAll(core.OnlyVisible(strings.ReplaceAll(text, "\t", "\u2409")), "\u2409", "\t")
		if ended {
			lines[i] += "\n"
		}
	}
	return strings.Join(lines, "")
}

// paths returns the paths of both trees, sorted.
func paths(a, b archive.Tree) []string {
	all := archive.Tree{}
	for _, tree := range []archive.Tree{a, b} {
		for name := range tree {
			all[name] = nil
		}
	}
	return all.Paths()
}

// chunks returns the changes from one text to another, by lines.
func chunks(before, after string) []diff.Chunk {
	lines, _ := linediff.Lines(before, after)
	old, latest := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	var all []diff.Chunk
	for _, line := range lines {
		switch {
		case line.Op == linediff.Removed:
			all = append(all, chunk{old[line.Old-1], diff.Delete})
		case line.Op == linediff.Added:
			all = append(all, chunk{latest[line.New-1], diff.Add})
		case old[line.Old-1] == latest[line.New-1]:
			all = append(all, chunk{old[line.Old-1], diff.Equal})
		default: // they differ in how they end
			all = append(all, chunk{old[line.Old-1], diff.Delete}, chunk{latest[line.New-1], diff.Add})
		}
	}
	return all
}

// patch, filePatch, file and chunk give the encoder of unified diffs what it reads.
type (
	patch     []filePatch
	filePatch struct {
		from, to diff.File // nil for a file that is not there
		binary   bool
		chunks   []diff.Chunk
	}
	file struct {
		path    string
		content []byte
	}
	chunk struct {
		content   string
		operation diff.Operation
	}
)

func (p patch) FilePatches() []diff.FilePatch {
	all := make([]diff.FilePatch, len(p))
	for i, f := range p {
		all[i] = f
	}
	return all
}

func (patch) Message() string { return "" }

func (f filePatch) IsBinary() bool              { return f.binary }
func (f filePatch) Files() (from, to diff.File) { return f.from, f.to }
func (f filePatch) Chunks() []diff.Chunk        { return f.chunks }
func (f file) Hash() plumbing.Hash              { return plumbing.ComputeHash(plumbing.BlobObject, f.content) }
func (file) Mode() filemode.FileMode            { return filemode.Regular }
func (f file) Path() string                     { return f.path }
func (c chunk) Content() string                 { return c.content }
func (c chunk) Type() diff.Operation            { return c.operation }
