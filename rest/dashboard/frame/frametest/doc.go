// Package frametest lets a room of the dashboard be tested through its routes,
// without signing in: a site that admits one visitor, forms that carry their
// token, goldens of pages, and a database moment between admission and transaction.
//
// It owns no page and knows no domain. Tests of the whole product with a browser
// are in conformance/browser.
package frametest
