package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// maxStoreMethods is the maximum number of methods of a domain's store, an interface in
// core whose name ends in Store.
const maxStoreMethods = 12

// storeSizes returns the number of methods of each store interface, by folder and name, such
// as "core/contacts.Store". Methods of embedded interfaces of the same package count, too.
func storeSizes(sources []Source) map[string]int {
	interfaces := map[string]*ast.InterfaceType{}
	for _, s := range sources {
		if s.IsTest() || top(s.Folder()) != "core" {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if declared, ok := n.(*ast.TypeSpec); ok {
				if body, ok := declared.Type.(*ast.InterfaceType); ok {
					interfaces[s.Folder()+"."+declared.Name.Name] = body
				}
			}
			return true
		})
	}
	sizes := map[string]int{}
	for name := range interfaces {
		if strings.HasSuffix(name, "Store") {
			sizes[name] = interfaceSize(interfaces, name)
		}
	}
	return sizes
}

// interfaceSize returns the number of methods of the interface with the name. An embedded
// interface of another package counts as one method.
func interfaceSize(interfaces map[string]*ast.InterfaceType, name string) int {
	size := 0
	for _, member := range interfaces[name].Methods.List {
		embedded, ok := member.Type.(*ast.Ident)
		of := strings.TrimSuffix(name, path.Ext(name)) + "."
		if ok && interfaces[of+embedded.Name] != nil {
			size += interfaceSize(interfaces, of+embedded.Name)
		} else {
			size++
		}
	}
	return size
}

// TestStoresAreSmall checks that each store interface has at most maxStoreMethods methods.
func TestStoresAreSmall(t *testing.T) {
	t.Parallel()
	sizes := storeSizes(repository(t).Sources)
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[name] > maxStoreMethods {
			t.Errorf("%s has %d methods, at most %d are allowed: divide it by what its records are", name, sizes[name], maxStoreMethods)
		}
	}
	if sizes["core/contacts.Store"] < 2 {
		t.Errorf("the methods of stores were not counted: %v", sizes)
	}
}

func TestStoreSize(t *testing.T) {
	t.Parallel()
	const source = `package a
		type Store interface { A(); B(); other; fmt.Stringer }
		type other interface { C(); D() }
		type Reader interface { E() }`
	file, err := parser.ParseFile(token.NewFileSet(), "", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	sizes := storeSizes([]Source{{Path: "core/a/store.go", File: file}})
	if want := map[string]int{"core/a.Store": 5}; !maps.Equal(sizes, want) {
		t.Errorf("%v, want %v", sizes, want)
	}
}
