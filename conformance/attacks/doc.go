// Package attacks tests that attacks against the whole product fail: hostile JSON,
// hostile HTTP, credentials in the wrong place, pages in a browser, races for one key,
// clients that hang up. Each file is one theme. It owns no code of the product.
package attacks
