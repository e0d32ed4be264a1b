package storage_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// names returns the ids, keys, addresses and names by which store methods find the owner's
// objects.
func (o ownedObjects) names() []string {
	return []string{
		o.contact.ID, o.contact.Email, *o.contact.ExternalID, o.shell.ID, o.list.ID, o.list.Key, o.channel.ID, o.channel.Name,
		o.activity.ID, o.property.ID, o.segment.ID, o.segment.Key, sameJob, "same", "plan", "news", "active", "",
	}
}

// instants returns the times with which the method is called: one before and one after all
// times of the owner's objects, so that a lower and an upper bound both match the objects.
// For a method without a time parameter it returns one time, so that there is one call.
func (m storeMethod) instants() []time.Time {
	for in := range m.signature().Ins() {
		if in == reflect.TypeFor[time.Time]() {
			return []time.Time{start.Add(-time.Hour), later(9)}
		}
	}
	return []time.Time{start}
}

// derivableMethods returns the store methods that neither the function storeCalls calls nor
// the list exempt names. It fails the test for a method with an argument that argumentsFor
// cannot make.
func derivableMethods(t *testing.T) []storeMethod {
	t.Helper()
	return slices.DeleteFunc(notListed(), func(m storeMethod) bool {
		_, err := argumentsFor(m, "org", "", start)
		if err != nil {
			t.Errorf("add %q: func(t *testing.T, db *storage.DB) (any, error) { ... } to the calls of its domain in conformance/storage (%q if no other store has the method): %v", m, m.name, err)
		}
		return err != nil
	})
}

// derivedCalls generates calls of the methods as the organization org. There is one call
// for each method, each of o.names() and each time that storeMethod.instants returns.
func derivedCalls(methods []storeMethod, o ownedObjects, org string) map[string]storeCall {
	all := map[string]storeCall{}
	for _, m := range methods {
		for _, name := range o.names() {
			for _, at := range m.instants() {
				all[fmt.Sprint(m, " ", name, " ", at)] = func(t *testing.T, db *storage.DB) (any, error) {
					arguments, err := argumentsFor(m, org, name, at)
					must(t, err)
					return m.call(t.Context(), db, arguments)
				}
			}
		}
	}
	return all
}

// storeMethod identifies a method of a store interface.
type storeMethod struct {
	store reflect.Type
	name  string
}

// String returns the store and the name, such as "contacts.Store.DropShell".
func (m storeMethod) String() string { return m.store.String() + "." + m.name }

// signature returns the function type of the method, without a receiver.
func (m storeMethod) signature() reflect.Type {
	method, _ := m.store.MethodByName(m.name)
	return method.Type
}

// argumentsFor returns the arguments for a call of the method m, without the context. The
// first argument is org. Every other string and list of strings is name, and every time is
// at. It returns an error if the method has a parameter of a type for which argumentsFor
// has no value.
func argumentsFor(m storeMethod, org, name string, at time.Time) ([]reflect.Value, error) {
	if _, err := m.accessor(); err != nil {
		return nil, err
	}
	signature := m.signature()
	if signature.NumIn() < 2 || signature.In(1).Kind() != reflect.String || signature.IsVariadic() {
		return nil, fmt.Errorf("it takes no organization after the context")
	}
	arguments := []reflect.Value{reflect.ValueOf(org)}
	for i := 2; i < signature.NumIn(); i++ {
		of := signature.In(i)
		switch {
		case of.Kind() == reflect.String:
			arguments = append(arguments, reflect.ValueOf(name).Convert(of))
		case of == reflect.TypeFor[[]string]():
			arguments = append(arguments, reflect.ValueOf([]string{name}))
		case of == reflect.TypeFor[time.Time]():
			arguments = append(arguments, reflect.ValueOf(at))
		case of.Kind() == reflect.Int:
			arguments = append(arguments, reflect.ValueOf(10).Convert(of))
		case of.Kind() == reflect.Bool:
			arguments = append(arguments, reflect.Zero(of))
		default:
			return nil, fmt.Errorf("no value is known for its argument of type %s", of)
		}
	}
	return arguments, nil
}

// call calls the method on its store in db. It returns the method's error, or the method's
// results without the empty ones. If all results are empty, it returns a nil slice.
func (m storeMethod) call(ctx context.Context, db *storage.DB, arguments []reflect.Value) (any, error) {
	accessor, err := m.accessor()
	if err != nil {
		return nil, err
	}
	store := reflect.ValueOf(db).MethodByName(accessor).Call(nil)[0]
	results := store.MethodByName(m.name).Call(append([]reflect.Value{reflect.ValueOf(ctx)}, arguments...))
	var found []any
	for _, result := range results {
		if err, ok := result.Interface().(error); ok {
			return nil, err
		}
		if !isNothing(result.Interface()) {
			found = append(found, result.Interface())
		}
	}
	return found, nil
}

// accessor returns the name of the method of storage.DB, such as "Contacts", that returns
// the store to which m belongs.
func (m storeMethod) accessor() (string, error) {
	of := reflect.TypeFor[*storage.DB]()
	for i := range of.NumMethod() {
		if method := of.Method(i); method.Type.NumIn() == 1 && method.Type.NumOut() == 1 && method.Type.Out(0).Implements(m.store) {
			return method.Name, nil
		}
	}
	return "", fmt.Errorf("no method of storage.DB returns %s", m.store)
}

// TestDerivedCalls checks that argumentsFor makes arguments for ContactByEmail, which takes
// strings. Called with them, ContactByEmail must find only the contact of the organization
// in the arguments. argumentsFor must refuse a method that takes other types, and a method
// of a store that no method of storage.DB returns.
func TestDerivedCalls(t *testing.T) {
	t.Parallel()
	type unknown interface {
		Named(ctx context.Context, orgID, name string) error
	}
	contact := storeMethod{reflect.TypeFor[contacts.Store](), "ContactByEmail"}
	arguments, err := argumentsFor(contact, "org", "name", start)
	if err != nil || len(arguments) != 2 || arguments[0].String() != "org" || arguments[1].String() != "name" {
		t.Errorf("%v, %v", arguments, err)
	}
	for _, m := range []storeMethod{{reflect.TypeFor[contacts.Store](), "Contacts"}, {reflect.TypeFor[unknown](), "Named"}} {
		if arguments, err := argumentsFor(m, "org", "name", start); err == nil {
			t.Errorf("%s: %v", m.name, arguments)
		}
	}
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		o := own(t, db)
		for org, isFound := range map[string]bool{o.org: true, core.NewID(): false} {
			arguments, err := argumentsFor(contact, org, o.contact.Email, start)
			if err != nil {
				t.Fatal(err)
			}
			if found, err := contact.call(t.Context(), db, arguments); isNothing(found) == isFound {
				t.Errorf("%v, %v; want found: %t", found, err, isFound)
			}
		}
	})
}
