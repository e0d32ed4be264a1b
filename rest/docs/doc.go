// Package docs serves the documentation on the app host. It has pages about the addresses
// of the services, the operations and the guides. It also has a page for every error code,
// to which the `type` of a problem document links.
//
// The package has the pages and their style. Operations, scopes and errors come from the
// catalogues, so these parts cannot differ from the product. Every page is rendered once,
// at its first request. The pages have no script and need no sign-in.
package docs
