// Package docs serves the documentation on the app host: addresses, operations, guides, and
// a page for every error code, to which the `type` of a problem document links.
//
// It has the pages and their style. Operations, scopes and errors come from the catalogues,
// so the pages cannot differ from the product. Every page is built once at start. The pages
// have no script and need no sign-in.
package docs
