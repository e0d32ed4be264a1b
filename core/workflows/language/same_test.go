package language_test

import (
	"reflect"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

var (
	offsetType    = reflect.TypeFor[language.Offset]()
	predicateType = reflect.TypeFor[*predicate.Tree]()
	treeType      = reflect.TypeFor[language.Tree]()
)

// sameTree reports whether two trees differ only in their offsets and sources.
func sameTree(a, b *language.Tree) bool {
	return same(reflect.ValueOf(*a), reflect.ValueOf(*b))
}

func same(a, b reflect.Value) bool {
	if a.Type() != b.Type() {
		return false
	}
	switch {
	case a.Type() == offsetType:
		return true
	case a.Type() == predicateType:
		return a.IsNil() == b.IsNil() && (a.IsNil() || a.Interface().(*predicate.Tree).String() == b.Interface().(*predicate.Tree).String())
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		return a.IsNil() == b.IsNil() && (a.IsNil() || same(a.Elem(), b.Elem()))
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if a.Type() == treeType && a.Type().Field(i).Name == "source" {
				continue
			}
			if !same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}
