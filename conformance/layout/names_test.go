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

// TestFileNamesDiffer checks that two files of a product folder, tests excluded, have names
// that readers do not confuse: names that differ in more than one letter, and not only in
// singular and plural.
func TestFileNamesDiffer(t *testing.T) {
	t.Parallel()
	names := map[string][]string{}
	for _, s := range repository(t).Sources {
		if folder := s.Folder(); !s.IsTest() && top(folder) != "conformance" {
			names[folder] = append(names[folder], strings.TrimSuffix(path.Base(s.Path), ".go"))
		}
	}
	for folder, files := range names {
		for i, name := range files {
			for _, other := range files[i+1:] {
				if confusable(name, other) {
					t.Errorf("%s: the names %s.go and %s.go are easy to confuse", folder, name, other)
				}
			}
		}
	}
}

// confusable reports whether two names are equal except for one letter, or except for
// singular and plural.
func confusable(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	start := 0
	for start < len(a) && a[start] == b[start] {
		start++
	}
	restA, restB := a[start:], b[start:]
	switch len(b) - len(a) {
	case 0:
		return restA == "" || restA[1:] == restB[1:]
	case 1:
		return restA == restB[1:]
	case 2:
		return strings.HasPrefix(restA, "y") && strings.HasPrefix(restB, "ies") && restA[1:] == restB[3:]
	}
	return false
}

func TestConfusable(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"contact", "contacts", true},
		{"contact_list", "contacts_list", true},
		{"admin_keys", "admin_key", true},
		{"activity", "activities", true},
		{"activity_list", "activities_list", true},
		{"seed", "send", true},
		{"contact_record", "contacts", false},
		{"page", "pages_list", false},
		{"setup", "send", false},
	} {
		if confusable(tc.a, tc.b) != tc.want {
			t.Errorf("confusable(%q, %q) = %t", tc.a, tc.b, !tc.want)
		}
	}
}
