// Package activities stores activities, the keys that make them idempotent, and promoted
// properties. It also finds and makes the contacts that activities name; the tables of
// contacts belong to the audience, and this room writes only stubs and external ids there.
package activities
