// Package activities stores activities, their idempotency keys, and promoted properties. It
// also finds the contacts that activities name, and inserts stubs for unknown ones. It
// writes only stubs and external ids to the tables of contacts; package storage/contacts
// owns these tables.
package activities
