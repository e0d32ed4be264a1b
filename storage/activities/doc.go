// Package activities stores activities, their idempotency keys, and promoted properties.
// It also finds and creates the contacts that activities name. The tables of contacts
// belong to the audience; this room writes only stubs and external ids there.
package activities
