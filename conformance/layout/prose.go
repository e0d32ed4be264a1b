package layout

import (
	"cmp"
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// stockWords match wording that hides the actor or the thing: name them instead. An
// address such as the one of a test's recipient is no wording.
var stockWords = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`nobody`, `somebody`, `anybody`, `everybody`, `whoever`, `whomever`,
	`likewise`, `meanwhile`, `besides`,
	`what\s+bec(omes?|ame)\s+of`, `that\s+(is|are|was|were)\s+none`, `none\s+that`,
	`(those|ones)\s+that\s+there\s+(is|are)`, `(is|are|was|were|be)\s+told`,
}, "|") + `)\b(@)?`)

// Wording is a place where a text for people contains a stock word.
type Wording struct {
	// Path is relative to the repository, with slashes.
	Path string
	// Line counts from 1.
	Line int
	// Phrase is in lower case, with single spaces between words.
	Phrase string
}

// StockWords returns the stock words in the comments and texts of Go files, in the
// pages' templates and in the documents, by file and line.
func (t *Tree) StockWords() ([]Wording, error) {
	var all []Wording
	for _, s := range t.Sources {
		all = append(all, s.stockWords()...)
	}
	for _, file := range t.Files {
		if ext := path.Ext(file); ext != ".md" && ext != ".html" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(t.Root, filepath.FromSlash(file)))
		if err != nil {
			return nil, err
		}
		all = append(all, stockWordsIn(file, 1, string(text))...)
	}
	slices.SortStableFunc(all, func(a, b Wording) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line))
	})
	return all, nil
}

// stockWords returns the stock words in comments, and in string literals of more than
// one word.
func (s Source) stockWords() []Wording {
	var found []Wording
	for _, group := range s.File.Comments {
		text := string(s.Text[s.offset(group.Pos()):s.offset(group.End())])
		found = append(found, stockWordsIn(s.Path, s.Set.Position(group.Pos()).Line, uncommented.Replace(text))...)
	}
	ast.Inspect(s.File, func(n ast.Node) bool {
		literal, ok := n.(*ast.BasicLit)
		if !ok || literal.Kind != token.STRING {
			return true
		}
		if text, err := strconv.Unquote(literal.Value); err == nil && strings.Contains(text, " ") {
			found = append(found, stockWordsIn(s.Path, s.Set.Position(literal.Pos()).Line, text)...)
		}
		return true
	})
	return found
}

// uncommented removes comment markers, so that a phrase that continues on the next line
// is found.
var uncommented = strings.NewReplacer("\n//", "\n", "\n\t//", "\n", "\n\t\t//", "\n", "\n\t\t\t//", "\n")

// offset returns the byte offset of a position in Text.
func (s Source) offset(p token.Pos) int { return s.Set.Position(p).Offset }

// stockWordsIn returns the stock words in a text that begins at a line of a file.
func stockWordsIn(file string, line int, text string) []Wording {
	var found []Wording
	for _, at := range stockWords.FindAllStringSubmatchIndex(text, -1) {
		if match := text[at[0]:at[1]]; !strings.HasSuffix(match, "@") {
			phrase := strings.ToLower(strings.Join(strings.Fields(match), " "))
			found = append(found, Wording{Path: file, Line: line + strings.Count(text[:at[0]], "\n"), Phrase: phrase})
		}
	}
	return found
}
