package layout

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
	"testing"
)

// emptyWord matches words that say nothing about a package, file or type, such as "helper".
var emptyWord = regexp.MustCompile(`(?i)^(utils?|commons?|helpers?|managers?|services?|misc)$`)

// words matches each word in the name of a type or file: Contact, Manager and linux in
// "ContactManager_linux".
var words = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

func emptyName(name string) bool {
	for _, word := range words.FindAllString(name, -1) {
		if emptyWord.MatchString(word) {
			return true
		}
	}
	return false
}

func TestNamesSaySomething(t *testing.T) {
	t.Parallel()
	for _, s := range repository(t).Sources {
		for part := range strings.SplitSeq(strings.TrimSuffix(s.Path, ".go"), "/") {
			if emptyName(part) {
				t.Errorf("%s: %q says nothing about what is in it", s.Path, part)
			}
		}
		for _, declaration := range s.File.Decls {
			if name := declaredType(declaration); emptyName(name) {
				t.Errorf("%s: the type name %s says nothing about what it does", s.Position(declaration.Pos()), name)
			}
		}
	}
}

func declaredType(declaration ast.Decl) string {
	general, ok := declaration.(*ast.GenDecl)
	if !ok || general.Tok != token.TYPE || len(general.Specs) != 1 {
		return ""
	}
	spec, ok := general.Specs[0].(*ast.TypeSpec)
	if !ok {
		return ""
	}
	return spec.Name.Name
}

func TestEmptyName(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]bool{
		"ContactManager": true, "http_utils": true, "MailService": true, "commonTypes": true,
		"Commonwealth": false, "contacts_upsert": false, "Managed": false,
	} {
		if emptyName(name) != empty {
			t.Errorf("emptyName(%q) = %t", name, !empty)
		}
	}
}

// TestPackageComments checks that every package has a doc comment that begins with
// "Package" and its name or, for a program, with "Command" and its name.
func TestPackageComments(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	folders := map[string]bool{}
	for _, s := range repository(t).Sources {
		folder := s.Folder()
		folders[folder] = true
		doc := s.File.Doc.Text()
		if strings.HasPrefix(doc, "Package "+s.File.Name.Name+" ") || strings.HasPrefix(doc, "Command "+path.Base(folder)+" ") {
			documented[folder] = true
		}
	}
	for folder := range folders {
		if !documented[folder] {
			t.Errorf("%s has no package comment", folder)
		}
	}
}
