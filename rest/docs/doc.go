// Package docs is the documentation that Mailhelm serves on its app host: where
// things are, what can be called, and a page for every error code, which is
// where a problem's `type` leads.
//
// It owns the pages and their looks. What they say about operations, scopes and
// errors is read from the catalogues, so it cannot differ from what is served.
// Every page is made once at start; there is no script and nothing to log in to.
package docs
