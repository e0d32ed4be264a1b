// Package clientdocument reads client-ID metadata documents
// (draft-ietf-oauth-client-id-metadata-document). A client with such a document has an
// https URL as its client id. The JSON document at this URL is the client's registration.
// The package implements access.DocumentReader.
//
// A client id passes these steps in order:
//   - the format of its URL (client_id.go), and its host and port (guard.go);
//   - the cache (reader.go);
//   - the limit of concurrent fetches, and the fetch (fetch.go), with a check of the
//     IP address while connecting (guard.go);
//   - the rules for the document (document.go).
//
// Every error has a sentence for the person whom the client sent to the consent page
// (refusal.go). Internal causes go to the log.
//
// The package does not store clients, show a consent page or handle organizations. Packages
// core/access and oauth do that.
package clientdocument
