// Package activities stores activities, their idempotency keys, and promoted properties
// (those that predicates may test). It also finds the contacts that activities name, and
// inserts a stub for an unknown contact. It writes only stubs and external ids to the
// tables of contacts; package storage/contacts owns these tables.
package activities
