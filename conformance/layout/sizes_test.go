package layout

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"regexp"
	"slices"
	"testing"
)

// maxPackageLines and maxPackageFiles limit the Go files of one folder of the product,
// tests excluded. A larger package needs a section "# Size" in its doc.go, with the reason
// why it is not divided.
const (
	maxPackageLines = 2500
	maxPackageFiles = 30
)

// sizeSection matches the heading "# Size" in a package comment, if text follows it.
var sizeSection = regexp.MustCompile(`(?m)^# Size\n+[^\s#]`)

// packageSize is the size of one package of the product, tests excluded.
type packageSize struct {
	lines, files int
	// comment is the package comment in doc.go, or "" if there is no such file.
	comment string
}

// hasReason reports whether doc.go states why the package is larger than allowed.
func (p packageSize) hasReason() bool { return sizeSection.MatchString(p.comment) }

// refusal returns the reason why the package is too large, or "" if it is small enough or
// its doc.go says why it is not divided.
func (p packageSize) refusal() string {
	if p.lines <= maxPackageLines && p.files <= maxPackageFiles || p.hasReason() {
		return ""
	}
	return fmt.Sprintf("%d lines in %d files, at most %d and %d are allowed: divide the package, or write the reason into doc.go under \"# Size\"",
		p.lines, p.files, maxPackageLines, maxPackageFiles)
}

// packageSizes returns the size of each package of the product, by its folder.
func packageSizes(sources []Source) map[string]packageSize {
	sizes := map[string]packageSize{}
	for _, s := range sources {
		if s.IsTest() || top(s.Folder()) == "conformance" {
			continue
		}
		size := sizes[s.Folder()]
		size.lines += s.Lines()
		size.files++
		if path.Base(s.Path) == "doc.go" {
			size.comment = s.File.Doc.Text()
		}
		sizes[s.Folder()] = size
	}
	return sizes
}

// TestPackageSizes checks that each package of the product has at most maxPackageLines
// lines and maxPackageFiles files, or gives the reason in its doc.go. It prints the packages
// with a reason.
func TestPackageSizes(t *testing.T) {
	t.Parallel()
	sizes := packageSizes(repository(t).Sources)
	for _, folder := range slices.Sorted(maps.Keys(sizes)) {
		size := sizes[folder]
		if why := size.refusal(); why != "" {
			t.Errorf("%s has %s", folder, why)
		}
		if size.hasReason() {
			t.Logf("%s has %d lines in %d files, with a reason", folder, size.lines, size.files)
		}
	}
}

func TestPackageSizeRefusal(t *testing.T) {
	t.Parallel()
	const reason = "Package a does this.\n\n# Size\n\nIt is one package because its parts share types.\n"
	for _, tc := range []struct {
		size    packageSize
		refused bool
	}{
		{packageSize{lines: 2500, files: 30}, false},
		{packageSize{lines: 2501, files: 3}, true},
		{packageSize{lines: 300, files: 31}, true},
		{packageSize{lines: 2501, files: 31, comment: reason}, false},
		{packageSize{lines: 2501, files: 3, comment: "Package a is one package of 2,501 lines because its parts share types.\n"}, true},
		{packageSize{lines: 2501, files: 3, comment: "Package a does this.\n\n# Size\n"}, true},
		{packageSize{lines: 2501, files: 3, comment: "Package a does this.\n\n# Size\n\n# State\n\nIt has a file.\n"}, true},
	} {
		if why := tc.size.refusal(); (why != "") != tc.refused {
			t.Errorf("%+v: refused %q, want refused: %t", tc.size, why, tc.refused)
		}
	}
}

// maxMethods is the maximum number of methods of a type, tests excluded. A type with more
// needs a comment with the reason.
const maxMethods = 30

// methodsReason matches the reason in the comment of a type with many methods.
var methodsReason = regexp.MustCompile(`\bmethods?\s+(because|for\s+(each|every))\b`)

// methodSet has the number of methods that a package declares for a type, without those of
// embedded types.
type methodSet struct {
	methods int
	// comment is the type's comment.
	comment string
}

// refusal returns the reason why the type has too many methods, or "" if it may have them.
func (m methodSet) refusal() string {
	if m.methods <= maxMethods || methodsReason.MatchString(m.comment) {
		return ""
	}
	return fmt.Sprintf("%d methods, at most %d are allowed: divide the type, or write into its comment \"It has many methods because\" and the reason",
		m.methods, maxMethods)
}

// methodSets returns the methods of each type of the product, by folder and type name, such
// as "core/contacts.Contacts".
func methodSets(sources []Source) map[string]methodSet {
	sets := map[string]methodSet{}
	for _, s := range sources {
		if s.IsTest() || top(s.Folder()) == "conformance" {
			continue
		}
		for _, declaration := range s.File.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil {
					name := s.Folder() + "." + receiver(d.Recv.List[0].Type)
					set := sets[name]
					set.methods++
					sets[name] = set
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if declared, ok := spec.(*ast.TypeSpec); ok {
						name := s.Folder() + "." + declared.Name.Name
						set := sets[name]
						set.comment = d.Doc.Text() + declared.Doc.Text()
						sets[name] = set
					}
				}
			}
		}
	}
	return sets
}

// receiver returns the type name in a receiver: Set for *Set[T].
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// TestMethodsOfTypes checks that each type of the product has at most maxMethods methods,
// or a reason in its comment. It prints the types with a reason.
func TestMethodsOfTypes(t *testing.T) {
	t.Parallel()
	sets := methodSets(repository(t).Sources)
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		set := sets[name]
		if why := set.refusal(); why != "" {
			t.Errorf("%s has %s", name, why)
		} else if set.methods > maxMethods {
			t.Logf("%s has %d methods, with a reason", name, set.methods)
		}
	}
	if sets["core/sending/simulator.Simulator"].methods <= maxMethods {
		t.Error("the methods of simulator.Simulator were not found, so the test would show nothing")
	}
}

func TestMethodSetRefusal(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		set     methodSet
		refused bool
	}{
		{methodSet{methods: 30}, false},
		{methodSet{methods: 31, comment: "A does this."}, true},
		{methodSet{methods: 31, comment: "A calls its methods in order."}, true},
		{methodSet{methods: 31, comment: "A does this. It has many\nmethods because its interface has."}, false},
		{methodSet{methods: 31, comment: "A has one method for each rule of the grammar."}, false},
	} {
		if why := tc.set.refusal(); (why != "") != tc.refused {
			t.Errorf("%+v: refused %q, want refused: %t", tc.set, why, tc.refused)
		}
	}
}
