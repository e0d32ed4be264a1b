// Package storagetest opens databases for tests, with the stores of all domains. The databases
// are those of package enginetest, which says where they are and how they end.
//
// The package is only for tests and contains no conformance tests; those are in
// conformance/storage.
package storagetest
