// Package clientdocument reads client-ID metadata documents: a client names
// itself by an https URL, and the JSON found there is its registration
// (draft-ietf-oauth-client-id-metadata-document). It is the adapter of
// access.DocumentReader.
//
// A client id passes, in this order: the form of its URL (client_id.go), what is
// remembered of it (reader.go), one of the few places for fetching
// (places.go), the fetch itself (fetch.go) with a check of the address at the
// moment of connecting (guard.go), and the rules about what the document says
// (document.go). Everything that goes wrong is a sentence for the person who was
// sent here (refusal.go); causes go to the log.
//
// It stores no client, asks nobody for consent and knows no organization: that
// is core/access and oauth.
package clientdocument
