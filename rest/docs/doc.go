// Package docs serves the documentation on the app host: guides, the reference of routes and
// tools, scopes, and a page for every error code, to which the `type` of a problem document
// links.
//
// Every page is an article in Markdown. The guides are files in the folder guides; package
// reference writes the others from the catalogues, so they cannot differ from the product.
// Package markdown renders them. Each page also has its Markdown at the address with ".md"
// appended, and /llms.txt lists all pages for assistants.
//
// Every page is rendered once, at its first request. The pages need no sign-in, and work
// without the script.
package docs
