// Package attacks tests that attacks against the whole product fail: hostile JSON, hostile
// HTTP, credentials in the wrong place, pages in a browser, concurrent use of one
// idempotency key, clients that disconnect during a call. Each file covers one theme. The
// package contains tests only.
package attacks
