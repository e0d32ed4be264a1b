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

// stockWords matches vague pronouns and filler words, such as those in the list below. It
// also matches a character @ after the word, which shows that the word is part of an email
// address.
var stockWords = regexp.MustCompile(`(?i)\b(` + strings.Join([]string{
	`nobody`, `somebody`, `anybody`, `everybody`, `whoever`, `whomever`,
	`likewise`, `meanwhile`, `besides`,
	`what\s+bec(omes?|ame)\s+of`, `that\s+(is|are|was|were)\s+none`, `none\s+that`,
	`(those|ones)\s+that\s+there\s+(is|are)`, `(is|are|was|were|be)\s+told`,
}, "|") + `)\b(@)?`)

// Wording is one place in the repository that has a stock word: a vague pronoun or a filler
// word.
type Wording struct {
	// Path is the path of the file from the root of the repository, with slashes.
	Path string
	// Line is the line number in the file, from 1.
	Line int
	// Phrase is the vague word that was found, in lower case and with single spaces.
	Phrase string
}

// StockWords returns each place of a vague word that stockWords matches. It searches the
// comments and strings of Go files, Markdown documents and HTML templates. The result is
// sorted by file and line.
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

// stockWords returns the places of vague words in the comments of the file and in its
// string literals that contain a space.
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

// uncommented removes the comment markers at the start of lines, so that a phrase is also
// found if it continues on the next line.
var uncommented = strings.NewReplacer("\n//", "\n", "\n\t//", "\n", "\n\t\t//", "\n", "\n\t\t\t//", "\n")

// offset returns the byte offset of a position in the text of the file.
func (s Source) offset(p token.Pos) int { return s.Set.Position(p).Offset }

// stockWordsIn returns the places of vague words in text. line is the line number, in the
// file, at which the text begins.
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
