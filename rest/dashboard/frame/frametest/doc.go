// Package frametest helps to test pages of the dashboard through their routes, without
// signing in. It has a site with one visitor, forms with valid tokens, and a comparison of
// pages with golden files. It can also change the database after the checks of a request
// and before its transaction.
//
// It contains no pages and no test data for a particular page. Tests of the whole product
// with a browser are in conformance/browser.
package frametest
