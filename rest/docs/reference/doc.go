// Package reference writes the pages of the documentation that are generated: the routes of
// the API, the tools of the agent endpoint, the scopes and the error codes. They come from
// the catalogues of the product, so they cannot differ from it.
package reference
